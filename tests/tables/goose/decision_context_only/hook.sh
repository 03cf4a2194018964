#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"context_injection":"x"}
END
