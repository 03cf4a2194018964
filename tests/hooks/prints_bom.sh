#!/usr/bin/env bash
# Prints a byte order mark before its decision.
printf '\xef\xbb\xbf{"decision":"block","message":"bom","reason":"bom"}\n' 
