#!/bin/sh
{ cat; echo; } >>../seen
echo "$PWD $ENGRAM_DIR $PAI_DIR $*"
