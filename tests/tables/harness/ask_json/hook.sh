#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision": "ask", "message": "This will force-push to main. Are you sure?"}'
