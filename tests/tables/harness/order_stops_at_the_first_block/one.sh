#!/bin/sh
{ cat; echo; } >>seen
echo first
