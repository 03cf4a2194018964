#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"context_injection": "  kept \n"}
END
