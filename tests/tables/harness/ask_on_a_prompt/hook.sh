#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"ask","message":"sure?"}'
