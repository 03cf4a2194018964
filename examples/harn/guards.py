"""House rules for an agent: each function is a hook of harn.toml, gets the payload, and says what it wants or None."""

import re

SECRET = re.compile(r"AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----")


def reject_secrets(event):
    """Keep keys out of the model's sight."""
    if SECRET.search(event["prompt"]):
        return {
            "block": True,
            "reason": "The prompt holds what looks like a secret key. Take it out and send it again.",
        }
    return None


def no_force_push(event):
    """Turn a forced push into one that cannot lose the work of others; refuse one to main."""
    command = str((event["tool"]["args"] or {}).get("command", ""))
    if not re.search(r"\bgit push\b.*(--force\b(?!-)|\s-f\b)", command):
        return None
    if re.search(r"\b(main|master)\b", command):
        return {"deny": "main is never force-pushed. Open a pull request instead."}
    safer = re.sub(r"--force\b(?!-)|(?<=\s)-f\b", "--force-with-lease", command)
    return {
        "reminder": {"body": "A forced push was made safer with --force-with-lease.", "tags": ["git"], "ttl_turns": 1},
        "then": {"args": {**event["tool"]["args"], "command": safer}},
    }


def reading_is_fine(event):
    """What only reads needs no permission."""
    if event["tool"]["name"].startswith(("read_", "list_", "search_")):
        return {"decision": "allow", "reason": "it only reads"}
    return None


def run_the_tests(event):
    """After an edit of Python code, the model is reminded of the tests, once however many files it changes."""
    return {
        "body": f"You changed {event['path']}. Run the tests before you say that it works.",
        "dedupe_key": "run-the-tests",
    }
