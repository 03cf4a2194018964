#!/usr/bin/env bash
# Prints a decision dressed in terminal escapes.
printf '\e[31m{"decision":"block"}\e[0m\e]0;title\a\n'
