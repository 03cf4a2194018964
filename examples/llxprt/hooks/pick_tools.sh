#!/usr/bin/env bash
# BeforeToolSelection: names of several hooks are united, so a hook says which tools it would allow.
if [[ -e "$LLXPRT_PROJECT_DIR/.read-only" ]]; then
    cat <<'EOS'
{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection",
  "toolConfig": {"mode": "AUTO", "allowedFunctionNames": ["glob", "list_directory", "read_file", "search_file_content"]}}}
EOS
fi
