#!/usr/bin/env python3
# Makes a daemon (fork, setsid, fork) that survives the group, then sleeps.
import os
import time

ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(tell, b".")
        for fd in (0, 1, 2):
            os.close(fd)
        time.sleep(300)
    os._exit(0)
os.wait()
os.read(ready, 1)
print("ready", flush=True)
time.sleep(300)
