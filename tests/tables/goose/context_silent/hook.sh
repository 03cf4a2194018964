#!/bin/sh
{ cat; echo; } >>seen
echo; exit 0
