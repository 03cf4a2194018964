#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision": "block", "message": "Cannot delete protected path: /etc/hosts"}'
