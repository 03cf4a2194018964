#!/bin/sh
{ cat; echo; } >>seen.c
printf '%s\n' 'three'
