#!/usr/bin/env bash
# Prints an allow, then exits with 1.
echo '{"continue":true,"decision":"allow"}'
exit 1
