#!/bin/sh
{ cat; echo; } >>seen
echo 'go on: the tests fail' >&2
exit 2
