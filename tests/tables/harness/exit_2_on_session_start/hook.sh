#!/bin/sh
{ cat; echo; } >>seen
echo text
echo 'no' >&2
exit 2
