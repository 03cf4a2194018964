#!/usr/bin/env bash
# Exits with 2 by accident: a syntax error of the shell.
if true; then echo 'half'
