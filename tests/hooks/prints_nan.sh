#!/usr/bin/env bash
# Prints an allow beside a NaN, which is not JSON.
echo '{"continue":true,"n":NaN}'
