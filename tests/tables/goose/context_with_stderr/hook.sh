#!/bin/sh
{ cat; echo; } >>seen
echo warn >&2
echo text
