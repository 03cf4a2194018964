#!/usr/bin/env python3
# Prints objects inside objects, 100,000 deep, with a decision on top.
print('{"decision":"block","a":' + '{"a":' * 100_000 + "1" + "}" * 100_001)
