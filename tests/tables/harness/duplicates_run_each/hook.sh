#!/bin/sh
{ cat; echo; } >>seen
[ -s ran ] && exit 0
echo x >ran
exit 1
