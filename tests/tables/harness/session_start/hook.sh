#!/bin/sh
{ cat; echo; } >>seen
echo "Current project: MyApp (v2.3.1)"
echo "Active branch: feature/auth-refactor"
