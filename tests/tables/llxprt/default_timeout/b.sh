#!/bin/sh
{ cat; echo; } >>seen
sleep 0.3
echo 'in time too'
