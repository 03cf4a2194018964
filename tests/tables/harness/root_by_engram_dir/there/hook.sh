#!/bin/sh
{ cat; echo; } >>seen
pwd
