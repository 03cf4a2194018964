#!/usr/bin/env bash
# Prints NULs around a decision.
printf '\0{"decision":"block"}\0' 
