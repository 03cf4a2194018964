#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":true,"reason":"x"}
END
