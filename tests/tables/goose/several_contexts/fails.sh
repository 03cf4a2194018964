#!/bin/sh
{ cat; echo; } >>seen
echo lost; exit 1
