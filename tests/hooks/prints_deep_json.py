#!/usr/bin/env python3
# Prints lists inside lists, 100,000 deep.
print("[" * 100_000)
