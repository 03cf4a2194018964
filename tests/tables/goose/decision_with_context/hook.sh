#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"allow","context_injection":"x"}
END
