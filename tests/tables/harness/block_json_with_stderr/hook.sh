#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"block"}'
echo 'because of rule 9' >&2
