#!/bin/sh
{ cat; echo; } >>seen.d
