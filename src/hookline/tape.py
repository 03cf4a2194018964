"""The tape: the session's transcript, one JSON record a line, each chained to the one before.

    {"seq":1,"at":"2026-01-01T00:00:00.000Z","kind":"hook_call","data":{…},"hash":"…"}

`hash` is the sha256, in hex, of the previous record's hash ("" for the first) followed by this line
without its `,"hash":"…"`. A record is one write, and it is made before what it speaks of goes on.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from hookline.errors import TapeError
from hookline.model import compact

TAIL = 64 * 1024


class Record(Struct, frozen=True):
    """One line of a tape."""

    seq: int
    at: str
    kind: str
    data: dict[str, Any]
    hash: str


def iso(seconds: float) -> str:
    """UTC with milliseconds, as every payload and every record has it."""
    whole, millis = divmod(int(seconds * 1000), 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{millis:03d}Z"


class Tape:
    """A tape being written. An existing file is continued; only one writer at a time may hold it."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.path = os.path.abspath(path)
        self._clock = clock
        self._lock = threading.Lock()
        self._fd = _open(self.path)
        try:
            self._seq, self._hash = _end_of(self._fd, self.path)
        except BaseException:
            os.close(self._fd)
            raise

    def append(self, kind: str, data: dict[str, Any]) -> None:
        with self._lock:
            seq = self._seq + 1
            line = compact({"seq": seq, "at": iso(self._clock()), "kind": kind, "data": data})
            digest = chained(self._hash, line)
            _write(self._fd, line[:-1] + b',"hash":"' + digest.encode() + b'"}\n', self.path)
            self._seq, self._hash = seq, digest

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1


def chained(previous: str, line: bytes) -> str:
    """The hash of a line (without its hash) that follows a record with that hash."""
    return hashlib.sha256(previous.encode() + line).hexdigest()


def read(path: str) -> Iterator[Record]:
    """The records of a tape, one at a time, without checking the chain."""
    decoder = msgspec.json.Decoder(Record)
    try:
        with open(path, "rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise TapeError(f"{path}: line {number} is not a record: {error}") from None
    except OSError as error:
        raise TapeError(f"{path}: cannot be read: {error.strerror}") from None


def verify(path: str) -> int:
    """Check the whole chain; the number of records. Raises TapeError with the first bad line."""
    previous, count = "", 0
    for record in read(path):
        count += 1
        line = compact({"seq": record.seq, "at": record.at, "kind": record.kind, "data": record.data})
        if record.seq != count:
            raise TapeError(f"{path}: line {count} has seq {record.seq}")
        if chained(previous, line) != record.hash:
            raise TapeError(f"{path}: line {count} (seq {record.seq}) does not fit the chain")
        previous = record.hash
    return count


def _open(path: str) -> int:
    import fcntl

    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise TapeError(f"{path}: the tape cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise TapeError(f"{path}: another session is writing this tape") from None
    return fd


def _end_of(fd: int, path: str) -> tuple[int, str]:
    """Sequence number and hash of the last record; (0, "") for a new tape."""
    try:
        size = os.fstat(fd).st_size
        want, last = TAIL, b""
        while size:
            data = os.pread(fd, min(want, size), max(0, size - want))
            if not data.endswith(b"\n"):
                raise TapeError(f"{path}: its last line is torn")
            last = data[:-1].rpartition(b"\n")[2]
            if len(last) < len(data) - 1 or want >= size:
                break
            want *= 4
        if not last:
            return 0, ""
        record = msgspec.json.decode(last, type=Record)
    except OSError as error:
        raise TapeError(f"{path}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise TapeError(f"{path}: its last line is not a record of a tape: {error}") from None
    return record.seq, record.hash


def _write(fd: int, line: bytes, path: str) -> None:
    try:
        while line:
            line = line[os.write(fd, line) :]
    except OSError as error:
        raise TapeError(f"{path}: the tape cannot be written: {error.strerror}") from None
