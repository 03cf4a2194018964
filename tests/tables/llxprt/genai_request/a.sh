#!/bin/sh
{ cat; echo; } >>seen
