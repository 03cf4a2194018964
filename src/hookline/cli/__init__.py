"""The command line: `hookline VERB`. One file per verb, imported only when it is called.

Exit codes: 0 go on, 2 denied, 3 ask, 4 halted, 64 usage, 65 bad data, 70 our own bug, 78 bad
configuration. Never 2 by accident: hosts read it as a denial.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from hookline.errors import ConfigError, HookError, HooklineError, TapeError, UsageError
from hookline.wording import harmless, nearest, shown

VERBS = {
    "fire": ("hookline.cli.fire", "fire an event at your hooks and print the ruling"),
    "explain": ("hookline.cli.explain", "say what would run for an event, in which order, and what would not and why"),
    "list": ("hookline.cli.list", "list the hooks of your configurations"),
    "trust": ("hookline.cli.trust", "show what this project's hooks would run, and let them"),
    "tape": ("hookline.cli.tape", "show, verify or sum up a tape"),
    "replay": ("hookline.cli.replay", "run a tape again, or judge it by the hooks of today"),
    "events": ("hookline.cli.events", "list every event, its payload and its name in each dialect"),
}

GO_ON, DENIED, ASK, HALTED = 0, 2, 3, 4
USAGE, BAD_DATA, BUG, BAD_CONFIG, INTERRUPTED = 64, 65, 70, 78, 130

GARBAGE = 100_000
"""Objects a short command makes before it is worth looking for garbage among them."""

INTRODUCTION = """\
hookline runs the lifecycle hooks of AI agents: hooks written for The Harness, Goose, LLxprt Code
and Harn, side by side, with one ruling in the end.

usage: hookline VERB [...]

{verbs}

Try:
  hookline events
  hookline list --where
  hookline list --config settings.json
  hookline explain PreToolUse --config settings.json --payload '{{"tool_name":"Bash","tool_input":{{}}}}'
  hookline fire PreToolUse --config settings.json --payload '{{"tool_name":"Bash","tool_input":{{"command":"ls"}}}}'

`hookline VERB --help` says more. Exit codes: 0 go on, 2 denied, 3 ask, 4 halted,
64 wrong usage, 65 bad data, 78 bad configuration, 70 a bug in hookline.
"""

UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What keeps an answer from being written where stdout leads to a file."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; the exit code. Without `argv` the process is ours, and ends with it."""
    if argv is not None:
        return _main([*argv])  # once `hookline list` was called, `list` is our own module here
    gc.set_threshold(GARBAGE)
    try:
        return _main(sys.argv[1:])
    finally:
        gc.freeze()  # Python would look through everything once more before it ends


def _main(words: list[str]) -> int:
    try:
        code = _dispatch(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except HookError as error:  # a Python handler of a manifest that raised, or answered nonsense
        if os.environ.get("HOOKLINE_DEBUG"):
            raise
        return _complain(error, BAD_DATA)
    except UsageError as error:
        return _complain(error, USAGE)
    except ConfigError as error:
        return _complain(error, BAD_CONFIG)
    except TapeError as error:
        return _complain(error, BAD_DATA)
    except BrokenPipeError:
        _silenced()
        return BUG
    except KeyboardInterrupt:
        return INTERRUPTED
    except HooklineError as error:
        return _complain(error, BAD_DATA)
    except Exception as error:  # the last line of defence: a traceback is no answer, and Python would exit with 1
        if isinstance(error, OSError) and error.errno in UNWRITABLE:
            _silenced()
            return _complain(f"the answer could not be written: {error.strerror}", BUG)
        if os.environ.get("HOOKLINE_DEBUG"):
            raise
        return _complain(f"a bug in hookline: {type(error).__name__}: {error} (HOOKLINE_DEBUG=1 shows where)", BUG)


def told(code: int, tell: Callable[[], None]) -> int:
    """The exit code, also where nobody can be told more: it is an answer by itself."""
    try:
        tell()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _silenced()
        _complain(f"the answer could not be written: {error.strerror}", code)
    return code


def _silenced() -> None:
    """Whoever read our answer went away. Nothing may be written at exit either."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def introduction() -> str:
    verbs = "\n".join(f"  {name:<9} {summary}" for name, (_, summary) in VERBS.items())
    return INTRODUCTION.format(verbs=verbs)


def _dispatch(words: list[str]) -> int:
    if len(words) == 2 and words[0] in ("help", "-h", "--help") and words[1] in VERBS:
        words = [words[1], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        print(introduction(), end="")
        return GO_ON
    if words[0] in ("-V", "--version"):
        import hookline

        print(f"hookline {hookline.__version__}")
        return GO_ON
    verb, *rest = words
    if verb not in VERBS:
        hint = nearest(verb, VERBS)
        raise UsageError(f"there is no verb {shown(verb)}{hint or '; the verbs are ' + ', '.join(VERBS)}")
    module: Any = import_module(VERBS[verb][0])
    arguments = module.parser().parse_args(rest)
    try:
        code: int = module.run(arguments)
    except SystemExit as error:  # somebody else's code wants to end us, with a number that is not ours
        raise RuntimeError(f"sys.exit({error.code!r}) was called") from None
    return code


def _complain(error: object, code: int) -> int:
    print(f"hookline: {harmless(str(error))}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
