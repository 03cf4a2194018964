"""Work that never delays the host: in order within a session, sessions beside each other."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence

from hookline.errors import UsageError

MOST = 1000
"""Works waiting in one session: a host that fires faster than its hooks run must not fill its memory."""


_serving = threading.local()


class Background:
    """One thread per session that has something to do; none where nothing is to be done."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queues: dict[str, deque[Callable[[], None]]] = {}

    def submit(self, session: str, work: Callable[[], None]) -> bool:
        """Take the work on; False where too much is waiting already."""
        with self._changed:
            queue = self._queues.get(session)
            if queue is None:
                self._queues[session] = deque([work])
                # Not a daemon: an ending program lets its hooks end, each within its timeout.
                threading.Thread(target=self._serve, args=(session,), name=f"hookline {session}").start()
            elif len(queue) >= MOST:
                return False
            else:
                queue.append(work)
            return True

    def wait(self, session: str | None = None) -> None:
        """Until nothing is left to do, in one session or in all."""
        if getattr(_serving, "session", None) is not None:
            raise UsageError(
                "a background hook's own thread cannot wait for background hooks: it would wait for itself"
            )
        with self._changed:
            self._changed.wait_for(lambda: session not in self._queues if session is not None else not self._queues)

    def after(self, sessions: Sequence[str], work: Callable[[], None]) -> None:
        """Do this once nothing is left to do in these sessions: now, or as the last work of the one that ends last."""
        with self._changed:
            busy = next((session for session in sessions if session in self._queues), None)
            if busy is not None:
                others = [session for session in sessions if session != busy]
                self._queues[busy].append(lambda: self.after(others, work))
                return
        work()

    def _serve(self, session: str) -> None:
        _serving.session = session
        while True:
            with self._changed:
                queue = self._queues[session]
                if not queue:
                    del self._queues[session]
                    self._changed.notify_all()
                    return
                work = queue.popleft()
            try:
                work()
            except Exception:  # noqa: BLE001  (a full disk under the tape must not strand the work behind it)
                complain()


def complain() -> None:
    """Hand the exception at hand to whoever watches threads: nobody waits for what a background thread raises."""
    kind, value, tb = sys.exc_info()
    if kind is not None:
        threading.excepthook(threading.ExceptHookArgs((kind, value, tb, threading.current_thread())))
