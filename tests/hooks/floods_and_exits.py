#!/usr/bin/env python3
# Prints 5 MB on stdout and exits with 0.
import sys

sys.stdout.write("HEAD" + "x" * (5_000_000 - 8) + "TAIL")
