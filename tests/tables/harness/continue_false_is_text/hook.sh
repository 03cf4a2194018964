#!/bin/sh
{ cat; echo; } >>seen
echo '{"continue":false}'
