#!/bin/sh
{ cat; echo; } >>seen
echo 'Blocked: matches a forbidden pattern' >&2
exit 2
