#!/bin/sh
{ cat; echo; } >>seen
echo 'Category: research'
