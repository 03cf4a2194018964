"""The reminders of one session: the values of reminders.py, held and changed in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from hookline import reminders as reminding
from hookline.reminders import Compaction, Origin, Pending, Reminder


class Reminders(Sequence[Reminder]):
    """The pending reminders, in the order the model reads them. Read-only, except by `inject` and `clear`."""

    def __init__(
        self,
        session_id: str,
        *,
        due: Callable[[], int],
        record: Callable[[str, dict[str, Any]], None],
        changing: Callable[[], None],
        recorded: Callable[[], dict[str, Any]],
    ) -> None:
        self._session_id, self._due, self._record = session_id, due, record
        self._changing, self._recorded = changing, recorded
        self._pending: Pending = ()
        self._made = 0

    def __len__(self) -> int:
        return len(self._pending)

    def __getitem__(self, index: Any) -> Any:
        return self._pending[index]

    def __repr__(self) -> str:
        return repr(self._pending)

    def inject(
        self,
        body: str,
        *,
        tags: Sequence[str] = (),
        dedupe_key: str | None = None,
        ttl_turns: int | None = None,
        preserve_on_compact: bool = False,
        propagate: reminding.Propagate = "session",
        role_hint: reminding.RoleHint = "system",
        **unknown: Any,
    ) -> Reminder:
        """Add a reminder of the host's own; the options are those a hook may give."""
        self._changing()
        options = {"tags": tags, "dedupe_key": dedupe_key, "ttl_turns": ttl_turns, "propagate": propagate}
        options |= {"preserve_on_compact": preserve_on_compact, "role_hint": role_hint}
        made = self.made({"body": body, **options, **unknown}, "in_pipeline")
        self._record("system_reminder", {"reminder": made.to_dict()})
        return made

    def clear(self, *, id: str | None = None, tag: str | None = None, dedupe_key: str | None = None) -> int:  # noqa: A002
        """Remove those that fit all given selectors; how many went."""
        self._changing()
        change = reminding.clear(self._pending, id=id, tag=tag, dedupe_key=dedupe_key)
        self._pending = change.pending
        return len(change.removed)

    # -- what the session does with them

    def keep(self, spec: dict[str, Any]) -> dict[str, Any]:
        """A hook's reminder, pending from now on; as the tape has it."""
        return self.made(spec, "hook").to_dict()

    def made(self, spec: dict[str, Any], source: Origin) -> Reminder:
        """A reminder with its id and the turn it is due in: what is recorded of it, when the session is replayed."""
        number = self._made + 1
        facts: dict[str, Any] = {"id": reminding.reminder_id(self._session_id, number), "fired_at_turn": self._due()}
        new = reminding.reminder(spec, source=source, **facts | self._recorded())
        self._made = number
        self._pending = reminding.inject(self._pending, new).pending
        return new

    def age(self, turn: int) -> None:
        """A turn is over: one call less to live."""
        self._pending = reminding.age(self._pending, turn).pending

    def bring_forward(self, turn: int) -> None:
        """What was due after this turn's model call is due with it: that call failed, and another one will be made."""
        self._pending = tuple(replace(r, fired_at_turn=min(r.fired_at_turn, turn)) for r in self._pending)

    def compaction(self, turn: int) -> Compaction:
        """What a compaction in this turn would make of them."""
        return reminding.compact(self._pending, turn)

    def compacted(self, passed: Compaction) -> None:
        """A compaction took place. What was injected, or cleared, meanwhile stays so."""
        before = {r.id for r in (*passed.survivors, *passed.expired, *passed.deduped)}
        now = {r.id for r in self._pending}
        kept = tuple(r for r in passed.pending if r.id in now)
        self._pending = kept + tuple(r for r in self._pending if r.id not in before)

    def settle(self, pending: Pending) -> None:
        """These are pending from now on."""
        self._pending = pending

    def inherited(self) -> Pending:
        """What a child starts with."""
        return reminding.inherited(self._pending, self._session_id)

    def to_list(self) -> list[dict[str, Any]]:
        """All of them, as the tape has them."""
        return [reminder.to_dict() for reminder in self._pending]

    def text(self) -> str:
        """All of them, for a prompt."""
        return reminding.rendered(self._pending)
