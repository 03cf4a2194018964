#!/usr/bin/env python3
# Makes a daemon, leaves the file `inner` when it is there, then sleeps.
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open("inner", "w"):
            pass
        time.sleep(300)
    os._exit(0)
time.sleep(300)
