#!/bin/sh
{ cat; echo; } >>seen.a
