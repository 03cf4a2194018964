#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"block","reason":"no"}
END
exec sleep 60
