#!/usr/bin/env python3
# Has a child that ended and that it never waits for, and exits with 0.
import os

if os.fork() == 0:
    os._exit(3)
os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
print("zombie", flush=True)
os._exit(0)
