#!/bin/sh
{ cat; echo; } >>seen
cat <<'END'
{"decision":"Block","reason":"x"}
END
