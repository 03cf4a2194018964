#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"allow"}
END
