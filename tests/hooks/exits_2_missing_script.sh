#!/usr/bin/env bash
# Exits with 2 by accident: python3 cannot find its script.
exec python3 no_such_script.py
