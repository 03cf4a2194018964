#!/bin/sh
{ cat; echo; } >>seen
echo "$0 $1 $2 $extensionPath"
