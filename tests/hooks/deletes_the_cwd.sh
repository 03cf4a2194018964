#!/usr/bin/env bash
# Deletes the working directory it was given.
rmdir "$PWD"
echo deleted
