#!/usr/bin/env python3
"""BeforeModel: an answered llm_request is laid over the real one, so only what changes has to be in it."""

import json
import re
import sys

SECRET = re.compile(
    r"\b(?:sk|ghp|glpat|xoxb)[-_][\w-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)

request = json.load(sys.stdin)["llm_request"]
messages = [message | {"content": SECRET.sub("[redacted]", message["content"])} for message in request["messages"]]
if messages != request["messages"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"messages": messages}}}))
