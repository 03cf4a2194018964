#!/bin/sh
{ cat; echo; } >>seen.c
