#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"block"}'
exec sleep 60
