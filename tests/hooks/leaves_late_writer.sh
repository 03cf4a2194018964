#!/usr/bin/env bash
# Leaves a child that prints when the file `go` appears, and exits with 0.
ZOO_KEEPS=1 python3 -c '
import os, time
while not os.path.exists("go"):
    time.sleep(0.02)
try:
    os.write(1, b"late")
except BrokenPipeError:
    pass
open("wrote", "w").close()' &
echo now
