#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"block","reason":{"code":7}}
END
