#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"context_injection":"B"}
END
