#!/bin/sh
{ cat; echo; } >>seen
kill -9 $$
