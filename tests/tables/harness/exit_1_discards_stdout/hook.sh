#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"block","message":"no"}'
printf 'first\nlast words\n' >&2
exit 1
