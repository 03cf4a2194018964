#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision": "block", "reason": "Destructive command blocked by policy"}
END
