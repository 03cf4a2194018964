#!/bin/sh
{ cat; echo; } >>seen.b
