#!/bin/sh
{ cat; echo; } >>seen
echo '{"continue": true}'
