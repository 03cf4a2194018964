#!/bin/sh
{ cat; echo; } >>seen
printf '\n  two\n lines \n\n'
