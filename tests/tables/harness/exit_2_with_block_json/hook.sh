#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision": "block", "message": "Blocked: recursive deletion of root filesystem"}'
echo noise >&2
exit 2
