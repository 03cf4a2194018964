#!/usr/bin/env bash
# Hook: LoadContext
# Event: SessionStart
# Description: Tells the model which project and branch it works on, and what .harness/context.md says

# What is printed here becomes part of the model's context. The working directory is the session's.
echo "Project: ${PWD##*/}"

if [ -f .git/HEAD ]; then
    read -r head <.git/HEAD
    case $head in
        "ref: refs/heads/"*) echo "Branch: ${head#ref: refs/heads/}" ;;
        *) echo "Branch: none (detached at ${head:0:12})" ;;
    esac
fi

if [ -f .harness/context.md ]; then
    echo
    cat .harness/context.md
fi
exit 0
