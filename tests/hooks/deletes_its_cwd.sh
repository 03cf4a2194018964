#!/usr/bin/env bash
# Goes into a directory, deletes it, and goes on.
mkdir doomed && cd doomed && rmdir ../doomed
echo '{"continue":true}'
