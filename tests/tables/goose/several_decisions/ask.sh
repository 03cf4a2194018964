#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"require_approval","reason":"sure?"}
END
