"""The reminders of one session: the values of reminders.py, held and changed in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hookline import reminders as reminding
from hookline.reminders import Compaction, Origin, Pending, Reminder


class Reminders(Sequence[Reminder]):
    """The pending reminders, in the order the model reads them. Read-only, except by `inject` and `clear`."""

    def __init__(
        self, session_id: str, *, due: Callable[[], int], record: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._session_id, self._due, self._record = session_id, due, record
        self._pending: Pending = ()
        self._made = 0

    def __len__(self) -> int:
        return len(self._pending)

    def __getitem__(self, index: Any) -> Any:
        return self._pending[index]

    def __repr__(self) -> str:
        return repr(self._pending)

    def inject(self, body: str, **options: Any) -> Reminder:
        """Add a reminder of the host's own; options as a hook may give them: tags, dedupe_key, ttl_turns, …"""
        made = self.made({"body": body, **options}, "in_pipeline")
        self._record("system_reminder", {"reminder": made.to_dict()})
        return made

    def clear(self, *, id: str | None = None, tag: str | None = None, dedupe_key: str | None = None) -> int:  # noqa: A002
        """Remove those that fit all given selectors; how many went."""
        change = reminding.clear(self._pending, id=id, tag=tag, dedupe_key=dedupe_key)
        self._pending = change.pending
        return len(change.removed)

    # -- what the session does with them

    def keep(self, spec: dict[str, Any]) -> dict[str, Any]:
        """A hook's reminder, pending from now on; as the tape has it."""
        return self.made(spec, "hook").to_dict()

    def made(self, spec: dict[str, Any], source: Origin) -> Reminder:
        """A reminder with its id and the turn it is due in. The id is the same again when the session is replayed."""
        number = self._made + 1
        new = reminding.reminder(
            spec, id=reminding.reminder_id(self._session_id, number), source=source, fired_at_turn=self._due()
        )
        self._made = number
        self._pending = reminding.inject(self._pending, new).pending
        return new

    def age(self, turn: int) -> None:
        """A turn is over: one call less to live."""
        self._pending = reminding.age(self._pending, turn).pending

    def compaction(self, turn: int) -> Compaction:
        """What a compaction in this turn would make of them."""
        return reminding.compact(self._pending, turn)

    def settle(self, pending: Pending) -> None:
        """These are pending from now on."""
        self._pending = pending

    def inherited(self) -> Pending:
        """What a child starts with."""
        return reminding.inherited(self._pending, self._session_id)

    def text(self) -> str:
        """All of them, for a prompt."""
        return reminding.rendered(self._pending)
