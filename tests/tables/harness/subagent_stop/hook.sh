#!/bin/sh
{ cat; echo; } >>seen
echo 'captured output of researcher'
