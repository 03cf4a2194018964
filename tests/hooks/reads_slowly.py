#!/usr/bin/env python3
# Reads its stdin in small sips, and prints how many bytes there were.
import os
import time

total = 0
while sip := os.read(0, 64 * 1024):
    total += len(sip)
    time.sleep(0.005)
print(total)
