#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"context_injection": "Per-turn context to inject"}
END
