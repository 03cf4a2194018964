#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"context_injection": "Text to add to the system prompt"}
END
