#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"block","reason":"x","context_injection":"both"}
END
