#!/usr/bin/env python3
# Exits with 2 by accident: a usage error of argparse.
import argparse

argparse.ArgumentParser(prog="hook").parse_args(["--no-such-option"])
