"""Cutting the output of a tool to a size, as a Harn hook's `max_output` asks for.

The middle goes, whole lines stay, and lines that look like a failure are carried over the gap, because
they are what the model needs most. Sizes are bytes of UTF-8, although the marker says "characters".
The marker comes on top: a result may be a little longer than its limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

FLOOR = 200
"""A smaller limit is taken for a mistake and cuts nothing; so does a negative one."""

MOST_FAILURES = 32
RESERVED = 64
"""What the markers around the failure lines are reckoned to need."""

LEAST_KEPT = 80
"""Head and tail are each at least this long, else the failure lines are not worth their place."""

STRONG_WORDS = ("FAIL", "panic", "Panic")
WEAK_WORDS = ("error", "undefined", "expected", "got")
WEAK_PHRASES = (
    "cannot find",
    "not found",
    "no such",
    "unresolved",
    "missing",
    "declared but not used",
    "unused",
    "mismatch",
)
OPENINGS = ("error:", "warning:", "note:")


def truncated(text: str, limit: int) -> str:
    """The text, or its head and tail with a marker between them where it is longer than `limit` bytes."""
    if limit < FLOOR:
        return text
    data = text.encode("utf-8", "surrogatepass")  # what Python can hold must come out as it went in
    if len(data) <= limit:
        return text
    failures = "\n".join(islice(_failures(text), MOST_FAILURES))
    if failures:
        keep = (limit - len(failures.encode("utf-8", "surrogatepass")) - RESERVED) // 2
        if keep >= LEAST_KEPT:
            head, tail = _head(data, keep), _tail(data, keep)
            return f"{head}\n\n[diagnostic lines preserved]\n{failures}\n\n[... output compacted ...]\n\n{tail}"
    head, tail = _head(data, limit // 2), _tail(data, limit // 2)
    snipped = len(data) - sum(len(part.encode("utf-8", "surrogatepass")) for part in (head, tail))
    return f"{head}\n\n[... {snipped} characters snipped ...]\n\n{tail}"


def signals_failure(line: str) -> bool:
    """Whether a line looks like a failure; indentation does not matter."""
    line = line.strip()
    lowered = line.lower()
    if any(word in line for word in STRONG_WORDS) or "panic:" in lowered or " error " in lowered:
        return True
    if lowered.startswith(OPENINGS):
        return True
    # "file:12" in front tells a compiler's message from prose; a second colon does not count
    if line.partition(":")[2][:1] not in tuple("0123456789"):
        return False
    return any(word in line for word in WEAK_WORDS) or any(phrase in lowered for phrase in WEAK_PHRASES)


def _failures(text: str) -> Iterator[str]:
    return (line.removesuffix("\r") for line in text.split("\n") if signals_failure(line))


def _head(data: bytes, size: int) -> str:
    """At most `size` bytes from the front, up to the last line end among them if there is one."""
    while _splits(data, size):
        size -= 1
    line_end = data.rfind(b"\n", 0, size) + 1
    return data[: line_end or size].decode("utf-8", "surrogatepass")


def _tail(data: bytes, size: int) -> str:
    """At most `size` bytes from the back, from the first line start among them if there is one."""
    start = len(data) - size
    while _splits(data, start):
        start += 1
    line_start = data.find(b"\n", start) + 1
    if 0 < line_start < len(data):
        start = line_start
    return data[start:].decode("utf-8", "surrogatepass")


def _splits(data: bytes, at: int) -> bool:
    """Whether a cut here would go through a character."""
    return at < len(data) and data[at] & 0b1100_0000 == 0b1000_0000
