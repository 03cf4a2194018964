#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"ask","message":"really?"}'
exit 2
