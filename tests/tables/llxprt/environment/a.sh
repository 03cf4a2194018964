#!/bin/sh
{ cat; echo; } >>seen
echo "$LLXPRT_PROJECT_DIR $1 $2 $(pwd -P)"
