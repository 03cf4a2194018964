#!/bin/sh
{ cat; echo; } >>seen
echo "$1"
