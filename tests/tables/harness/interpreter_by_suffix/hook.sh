#!/bin/sh
{ cat; echo; } >>seen
echo ${BASH_VERSION:+bash}
