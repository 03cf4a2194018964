#!/usr/bin/env bash
# Floods its stdout until somebody ends it.
exec yes
