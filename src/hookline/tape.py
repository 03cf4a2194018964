"""The tape: the session's transcript, one JSON record a line, each chained to the one before.

    {"seq":1,"at":"2026-01-01T00:00:00.000Z","kind":"hook_call","data":{…},"hash":"…"}

`hash` is the sha256, in hex, of the previous record's hash ("" for the first) followed by this line
without its `,"hash":"…"`. A record is one write, and it is made before what it speaks of goes on. Secrets
are masked in what is stored, and `data.masked` says where. The first record's data has the `version`.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal
from weakref import WeakSet

import msgspec
from msgspec import Struct

from hookline.compacting import compact
from hookline.errors import TapeError, UsageError
from hookline.kinds import flaw
from hookline.masking import masking

VERSION = 1
ADDED = ("masked", "of", "beside", "since", "version")
"""What the tape itself adds to the data of a record."""

TAIL = 64 * 1024
_HASH = len(',"hash":"') + 64 + len('"}')

Durability = Literal["flush", "fsync"]
"""`flush`: a record survives the end of our process. `fsync`: it survives a loss of power, at a price."""


class Record(Struct, frozen=True):
    """One line of a tape."""

    seq: int
    at: str
    kind: str
    data: dict[str, Any]
    hash: str

    @property
    def said(self) -> dict[str, Any]:
        """The data without what the tape itself adds."""
        return {key: value for key, value in self.data.items() if key not in ADDED}


def iso(seconds: float) -> str:
    """UTC with milliseconds, as every payload and every record has it."""
    return _millisecond(int(seconds * 1000))


@lru_cache(maxsize=8)  # one call of a tool leaves many records within the same millisecond
def _millisecond(number: int) -> str:
    whole, millis = divmod(number, 1000)
    return f"{_second(whole)}.{millis:03d}Z"


@lru_cache(maxsize=8)
def _second(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(number))


class Tape:
    """A tape being written. An existing file is continued; only one writer at a time may hold it.

    `mask` keeps secrets out: True, or regular expressions for more of them; False stores everything as it is.
    The values of secret variables of `environ` are among them. `durability` is "flush" or "fsync".
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], float] = time.time,
        durability: Durability = "flush",
        mask: bool | Iterable[str] = True,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        if durability not in ("flush", "fsync"):
            raise UsageError(f'durability is "flush" or "fsync", not {durability!r}')
        self.path = os.path.abspath(path)
        self._clock, self._masking = clock, masking(mask, environ)
        self._fsync = durability == "fsync"
        self._lock = threading.Lock()
        self._takes: WeakSet[Take] = WeakSet()
        self._fd = _open(self.path, sync=self._fsync)
        try:
            self._seq, self._hash, self._size = _end_of(self._fd, self.path)
            self._front = self._seq
        except BaseException:
            os.close(self._fd)
            raise

    @property
    def head(self) -> str:
        """The hash of the last record: whoever keeps it can tell later that nothing was cut off."""
        return self._hash

    @property
    def front(self) -> int:
        """The number of the last record that is none of a background hook's."""
        return self._front

    def append(self, kind: str, data: dict[str, Any], *, last: bool = False, since: int | None = None) -> None:
        """Write a record. Where others stand between it and the one its call began after, `since` names that one."""
        self._added(kind, data, since=since)

    def take(self, event: dict[str, Any]) -> Take:
        """An event has happened; what the records of its hooks are written to."""
        body = self._stored("event", event)
        with self._lock:
            others = list(self._takes)
            self._append("event", _with(body, b'"beside":%d' % max(t.seq for t in others)) if others else body)
            self._share()
            self._front = self._seq
            made = Take(self._added, self._seq, shared=bool(others))
            self._takes.add(made)
            return made

    def _added(
        self,
        kind: str,
        data: dict[str, Any],
        take: Take | None = None,
        *,
        last: bool = False,
        since: int | None = None,
    ) -> None:
        body = self._stored(kind, data)
        with self._lock:
            if since is not None and since != self._front:
                body = _with(body, b'"since":%d' % since)
            self._append(kind, _with(body, b'"of":%d' % take.seq) if take and take.shared else body)
            if not data.get("background"):
                self._front = self._seq
                if take is None:  # it stands among the records of these, and is none of theirs
                    self._share()
            if take and last:
                self._takes.discard(take)

    def _share(self) -> None:
        for take in self._takes:
            take.shared = True

    def _stored(self, kind: str, data: dict[str, Any]) -> bytes:
        """The data as JSON, its secrets masked."""
        body = compact(data)
        if self._masking is None or not self._masking.suspects(body):
            return body
        try:
            kept, places = self._masking.record(kind, msgspec.json.decode(body))
        except RecursionError:
            raise UsageError("a payload must be made of JSON values: it is nested too deeply") from None
        return compact(kept | {"masked": places}) if places else body

    def _append(self, kind: str, body: bytes) -> None:
        """One write a record; the lock is held. Whatever interrupts it, the next record follows the last whole one."""
        if self._fd < 0:
            raise TapeError(f"{self.path}: the tape is closed; wait for background hooks before you close it")
        if self._seq == 0:
            body = _with(body, b'"version":%d' % VERSION)
        bare = line(self._seq + 1, iso(self._clock()), kind, body)
        digest = chained(self._hash, bare)
        whole = sealed(bare, digest)
        try:
            left = whole
            while left:
                left = left[os.write(self._fd, left) :]
            if self._fsync:
                os.fsync(self._fd)
            self._seq, self._hash, self._size = self._seq + 1, digest, self._size + len(whole)
        except BaseException as error:
            self._taken_back()
            if isinstance(error, OSError):
                raise TapeError(f"{self.path}: the tape cannot be written: {error.strerror}") from None
            raise

    def _taken_back(self) -> None:
        """What is left of a record that was not written whole goes, so that the chain holds."""
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:  # the last line is torn now; nothing may follow it, and a reader is told how to mend it
            os.close(self._fd)
            self._fd = -1

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1


class Take:
    """The records of one event. Where another event happens meanwhile, `of` says which one a record belongs to."""

    def __init__(self, add: Callable[..., None], seq: int, *, shared: bool) -> None:
        self._add, self.seq, self.shared = add, seq, shared

    def append(self, kind: str, data: dict[str, Any], *, last: bool = False) -> None:
        """A record of this event. After the `last` one it is over."""
        self._add(kind, data, self, last=last)


def _with(body: bytes, field: bytes) -> bytes:
    """A JSON object with one more field."""
    return body[:-1] + (b"," if len(body) > 2 else b"") + field + b"}"


def line(seq: int, at: str, kind: str, body: bytes) -> bytes:
    """A record without its hash."""
    return b'{"seq":%d,"at":"%s","kind":%s,"data":%s}' % (seq, at.encode(), compact(kind), body)


def sealed(bare: bytes, digest: str) -> bytes:
    """A record with its hash, as the tape has it."""
    return bare[:-1] + b',"hash":"' + digest.encode() + b'"}\n'


def chained(previous: str, bare: bytes) -> str:
    """The hash of a line (without its hash) that follows a record with that hash."""
    import hashlib  # it brings all of OpenSSL, which a fire without a tape need not wait for

    return hashlib.sha256(previous.encode() + bare).hexdigest()


# -- reading


def read(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a tape, one at a time, without checking the chain. Raises Torn after the last whole one."""
    return (record for record, _ in read_lines(path))


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[Record, bytes]]:
    """The records of a tape, each with its line."""
    decoder, file = msgspec.json.Decoder(Record), os.fspath(path)
    for number, text in _lines(file):
        if not text.endswith(b"\n"):
            raise Torn(file, number)
        try:
            record = decoder.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise _broken(file, number, f"is not a record: {error}") from None
        if number == 1:
            _check_version(file, record)
        yield record, text


def _check_version(file: str, first: Record) -> None:
    if (version := first.data.get("version", VERSION)) != VERSION:
        raise _broken(file, 1, f"(record 1) says version {version!r}; this hookline reads version {VERSION} only")


def read_whole(path: str | os.PathLike[str]) -> Iterator[tuple[Record, bytes]]:
    """The same, and each record has what its kind must have."""
    for record, text in read_lines(path):
        if wrong := flaw(record.kind, record.data):
            raise _broken(os.fspath(path), record.seq, f"(record {record.seq}, {record.kind}) {wrong}")
        yield record, text


class Torn(TapeError):
    """The last line of a tape is not whole: its writer died, which is no tampering."""

    def __init__(self, path: str, line: int | None = None) -> None:
        where = f"line {line}, the last one," if line else "its last line"
        super().__init__(
            f"{path}: {where} is torn: its writer ended in the middle of it; "
            f"`hookline tape verify --repair {path}` marks the place"
        )
        self.path, self.line = path, line


class Verified(Struct, frozen=True):
    """A whole chain: how many records, and the hash of the last."""

    records: int
    head: str


def verify(path: str | os.PathLike[str], *, expect: str = "") -> Verified:
    """Check the whole chain. Raises TapeError with the first bad line; Torn where only the last one is not whole.

    `expect` is the hash the last record must have: without it nobody can tell that the end was cut off.
    """
    import hashlib

    file, sha256, wanted = os.fspath(path), hashlib.sha256, expect.strip().lower().encode()
    previous, count, met = b"", 0, 0
    for count, text in _lines(file):  # quick: what is wrong is looked at afterwards
        digest = sha256(b"%b%b}" % (previous, text[: -_HASH - 1])).hexdigest().encode()
        if not (text.endswith(b',"hash":"%b"}\n' % digest) and text.startswith(b'{"seq":%d,' % count)):
            raise _unchained(file, count, text)
        previous = digest
        if digest == wanted:
            met = count
    head = previous.decode()
    next(read_lines(file), None)  # a version we know
    if wanted and head != wanted.decode():
        cut = "the end was cut off, or it is another tape"
        after = f"that is record {met}, and {count - met} came after it" if met else cut
        raise TapeError(
            f"{file}: the last of {count} records has hash {head or '(none)'}, not {wanted.decode()}: {after}"
        )
    return Verified(count, head)


def _unchained(file: str, number: int, text: bytes) -> TapeError:
    """What is wrong with a line that is not the next record of the chain."""
    if not text.endswith(b"\n"):
        begins = _begins(text, number)
        return Torn(file, number) if begins else _broken(file, number, "is not the begin of a record")
    if text[-_HASH - 1 : -67] != b',"hash":"' or text[-3:] != b'"}\n':
        return _broken(file, number, "is not a record of a tape")
    if not text.startswith(b'{"seq":%d,' % number):
        found = text[7:40].partition(b",")[0].decode("utf-8", "replace")
        return _broken(file, number, f"has seq {found}, where {number} should be: lines are missing or moved")
    return _broken(file, number, f"(seq {number}) does not fit the chain: it, or the one before, was changed")


def _broken(file: str, number: int, what: str) -> TapeError:
    error = TapeError(f"{file}: line {number} {what}")
    error.line = number
    return error


def _begins(text: bytes, seq: int) -> bool:
    """Whether an unfinished line can be the begin of this record, or the room a file system kept for it."""
    begin = b'{"seq":%d,"at":"' % seq
    return text.startswith(begin[: len(text)]) or not text.strip(b"\0")


def repair(path: str | os.PathLike[str]) -> int:
    """Turn a torn last line into a record that says so; how many bytes were torn. A whole tape stays as it is."""
    file = os.fspath(path)
    fd = _open(file, flags=os.O_RDWR)
    try:
        try:
            verify(file)
        except Torn as torn:
            return _mended(fd, file, torn.line or 1)
        return 0
    except OSError as error:
        raise TapeError(f"{file}: cannot be repaired: {error.strerror}") from None
    finally:
        os.close(fd)


def _mended(fd: int, file: str, number: int) -> int:
    start, previous, torn = 0, "", b""
    for at, text in _lines(file):
        if at == number:
            torn = text
        else:
            start, previous = start + len(text), text[-67:-3].decode()
    body = compact({"bytes": len(torn), "text": torn[:200].decode("utf-8", "replace")})
    bare = line(number, iso(time.time()), "torn", _with(body, b'"version":%d' % VERSION) if number == 1 else body)
    mended = sealed(bare, chained(previous, bare))
    os.pwrite(fd, mended, start)  # over the torn line: until the cut it stays torn, and can be mended again
    os.ftruncate(fd, start + len(mended))
    os.fsync(fd)
    return len(torn)


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as lines:
            yield from enumerate(lines, 1)
    except OSError as error:
        raise TapeError(f"{path}: cannot be read: {error.strerror}") from None


def _open(path: str, *, sync: bool = False, flags: int = os.O_RDWR | os.O_APPEND | os.O_CREAT) -> int:
    import fcntl

    try:
        new = sync and not os.path.exists(path)
        fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        if new:
            _sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        raise TapeError(f"{path}: the tape cannot be opened: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TapeError(f"{path}: is no regular file; a tape is read again")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise TapeError(f"{path}: another session is writing this tape") from None
    return fd


def _sync_folder(path: str) -> None:
    """A new file survives a loss of power only where its folder was written, too."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _end_of(fd: int, path: str) -> tuple[int, str, int]:
    """Sequence number and hash of the last record, and the size of it all; (0, "", 0) for a new tape."""
    try:
        size = os.fstat(fd).st_size
        want, last = TAIL, b""
        while size:
            data = os.pread(fd, min(want, size), max(0, size - want))
            if not data.endswith(b"\n"):
                raise Torn(path)
            last = data[:-1].rpartition(b"\n")[2]
            if len(last) < len(data) - 1 or want >= size:
                break
            want *= 4
        if not size:
            return 0, "", 0
        record = msgspec.json.decode(last, type=Record)
    except OSError as error:
        raise TapeError(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise TapeError(f"{path}: its last line is not a record of a tape: {error}") from None
    return record.seq, record.hash, size
