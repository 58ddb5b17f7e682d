"""A native sampler that a test plays: it records calls and leaves notices."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tidscope_collector.sampling.notices import Notice
from tidscope_sampler.native import Sampler

NOTHING: Notice = {
    "named": [],
    "program": False,
    "gomaxprocs": None,
    "executions": [],
    "executions_missed": 0,
    "events_lost": 0,
    "sampled": False,
    "empty": False,
    "ending": False,
    "over": None,
}


class FakeSampler:
    """See `tidscope_sampler.native.Sampler`.

    Attributes:
        calls: name and arguments of each call that changes a target, in order.
        attached: what targets were attached with, by ID.
        spent: what `take_spent` returns next.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.attached: dict[str, Mapping[str, Any]] = {}
        self.spent: tuple[int, dict[str, tuple[int, int]]] = (0, {})
        self.health: Mapping[str, object] = {}
        self.totals: dict[str, int] = {}
        self.seq = 0
        self.refuses: Exception | None = None
        self._notices: dict[str, Notice] = {}
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    @property
    def native(self) -> Sampler:
        """The fake in the type of the real sampler."""
        return cast(Sampler, self)

    def of(self, name: str) -> list[tuple[Any, ...]]:
        """Arguments of all calls of a method."""
        return [arguments for called, arguments in self.calls if called == name]

    def tell(self, target: str, **notice: Any) -> None:
        """Leave a notice of a target."""
        self._notices[target] = cast(Notice, {**NOTHING, **notice})
        os.eventfd_write(self._wake, 1)

    def start(self) -> None: ...

    def stop(self) -> None:
        self.calls.append(("stop", ()))

    def notices_fileno(self) -> int:
        return self._wake

    def take_notices(self) -> dict[str, Notice]:
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            pass
        taken, self._notices = self._notices, {}
        return taken

    def attach(self, target: Mapping[str, Any]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.attached[target["id"]] = target

    def finish(self, target: str, exited: bool) -> int | None:
        self.calls.append(("finish", (target, exited)))
        self.seq += 1
        return self.seq if self.attached.pop(target, None) is not None else None

    def flush(self, target: str) -> tuple[int, int] | None:
        self.calls.append(("flush", (target,)))
        self.seq += 1
        return (self.seq, 0) if target in self.attached else None

    def take_spent(self) -> tuple[int, dict[str, tuple[int, int]]]:
        return self.spent

    def set_health(self, health: Mapping[str, object]) -> None:
        self.health = health

    def total(self, _target: str, fields: Sequence[str]) -> int:
        return sum(self.totals.get(name, 0) for name in fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: self.calls.append((name, arguments))
