#!/bin/sh
{ cat; echo; } >>seen.e
