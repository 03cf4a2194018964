#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '"just text"'
