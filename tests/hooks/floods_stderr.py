#!/usr/bin/env python3
# Prints 5 MB on stderr, with a head and a tail one can recognise.
import sys

sys.stderr.write("HEAD" + "x" * (5_000_000 - 8) + "TAIL")
