#!/bin/sh
{ cat; echo; } >>seen
echo 'not on a Friday'
exit 2
