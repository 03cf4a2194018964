#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"block","message":"","reason":"policy 7"}'
echo noise >&2
exit 2
