#!/usr/bin/env python3
# Prints an allow beside an integer of 5,000 digits.
print('{"continue":true,"n":' + "9" * 5000 + "}")
