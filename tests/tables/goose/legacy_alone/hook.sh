#!/bin/sh
{ cat; echo; } >>seen
echo "legacy $1"
