#!/bin/sh
{ cat; echo; } >>seen
echo BLOCK THIS
