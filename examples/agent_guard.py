"""An agent's own guards as decorated functions: no file, no process. Run it: python examples/agent_guard.py"""

import re

import hookline
from hookline import context, deny, halt, remind, rewrite

hooks = hookline.Hooks()
spent = {"calls": 0}


@hooks.on("PreToolUse", match="Bash")
def no_rm_at_the_root(payload):
    """Recursive deletion of the root or of a home directory is refused."""
    if re.search(r"\brm\s+-\w*r\w*\s+(/|~)\s*$", payload["tool_input"].get("command", "")):
        return deny("Not the root, and not a home directory. Name what should go.")
    return None


@hooks.on("PreToolUse", match="Bash", on_failure="deny")
def quiet_pip(payload):
    """pip tells the model a hundred lines it does not need."""
    command = payload["tool_input"]["command"]
    if command.startswith("pip install") and " -q" not in command:
        return rewrite(tool_input={**payload["tool_input"], "command": f"{command} -q"})
    return None


@hooks.on("PreToolUse")
async def at_most_fifty_calls(payload):
    """Fifty tool calls are enough for a task; before that the model is told."""
    spent["calls"] += 1
    if spent["calls"] > 50:
        return halt("Fifty tool calls are spent.")
    return remind("Forty tool calls are spent: come to an end.", ttl_turns=3) if spent["calls"] == 40 else None


@hooks.on("SessionStart")
def say_what_this_is(payload):
    """The model begins with the rules."""
    return context("Tests are run with pytest. Commits are small.")


@hooks.on_tool("fetch_*", when="post")
def no_scripts(event):
    """Harn's own protocol, for who has handlers in it: a text is the new output."""
    return re.sub(r"<script.*?</script>", "", event["result"]["text"], flags=re.DOTALL)


hooks.register_tool_hook(pattern="*", max_output=20_000)


def main():
    for command in ("ls", "rm -rf /", "pip install rich"):
        ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": command})
        print(f"{command}: {ruling.decision} {ruling.reason or ruling.tool_input or ''}".rstrip())


if __name__ == "__main__":
    main()
