#!/usr/bin/env bash
# Prints the bytes of the variable it is told, in hex.
printf '%s' "${!1}" | od -An -tx1 | tr -d ' \n'
