#!/bin/sh
{ cat; echo; } >>seen
echo '{"decision":"block","reason":"false positive of a skill"}'
