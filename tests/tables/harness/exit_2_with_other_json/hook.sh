#!/bin/sh
{ cat; echo; } >>seen
echo '{"error":"not on a Friday"}'
exit 2
