"""What a ruling is made of: a sequence that compares kindly, one that is put together when somebody looks, nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

_T = TypeVar("_T")


class Items(tuple[Any, ...]):
    """A tuple that also equals the list of its items: who reads a ruling need not know which of them it has."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __add__(self, other: tuple[Any, ...]) -> Items:
        return Items(tuple.__add__(self, other)) if other else self


NOTHING = Items()


class Untouched(dict[str, Any]):
    """An empty dict that stays empty: rulings share it."""

    def _refused(self, *args: Any, **more: Any) -> Any:
        raise TypeError("a ruling does not change")

    __setitem__ = update = setdefault = __ior__ = _refused


UNTOUCHED = Untouched()


NONE: Mapping[int, Any] = {}


class Reports(Sequence[_T]):
    """One report per hook considered, in plan order: those known beforehand, and by index those of the hooks that ran.

    Put together when somebody looks: a thousand hooks that do not match must not cost a fire anything. `ran` may be
    what makes them, for the same reason.
    """

    __slots__ = ("_all", "_known", "_ran")

    def __init__(
        self, known: Sequence[_T | None] = (), ran: Mapping[int, _T] | Callable[[], Mapping[int, _T]] = NONE
    ) -> None:
        self._known, self._ran = known, ran
        self._all: tuple[_T, ...] | None = None

    def _reports(self) -> tuple[_T, ...]:
        if self._all is None:
            ran = self._ran() if callable(self._ran) else self._ran
            both = (ran.get(index, report) for index, report in enumerate(self._known))
            self._all = tuple(report for report in both if report is not None)
        return self._all

    def __len__(self) -> int:
        return len(self._reports())

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, index: int | slice) -> _T | tuple[_T, ...]:
        return self._reports()[index]

    def __eq__(self, other: object) -> bool:
        return self._reports() == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._reports())

    def __reduce__(self) -> tuple[Any, ...]:
        return Reports, (self._reports(),)

    def __repr__(self) -> str:
        return repr(self._reports())
