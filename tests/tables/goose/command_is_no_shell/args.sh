#!/bin/sh
{ cat; echo; } >>seen
for word; do echo "[$word]"; done
