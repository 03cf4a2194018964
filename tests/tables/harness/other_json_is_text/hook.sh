#!/bin/sh
{ cat; echo; } >>seen
echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'
