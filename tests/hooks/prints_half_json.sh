#!/usr/bin/env bash
# Prints half of a decision.
printf '{"decision":"blo'
