#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"block","reason":"x"}
END
