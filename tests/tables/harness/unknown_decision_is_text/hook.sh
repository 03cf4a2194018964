#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"escalate","message":"m"}'
