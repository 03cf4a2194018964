#!/bin/sh
{ cat; echo; } >>seen.b
exit 1
