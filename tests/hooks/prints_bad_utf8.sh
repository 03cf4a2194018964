#!/usr/bin/env bash
# Prints a byte that is not UTF-8.
printf 'a\xffb\n'
