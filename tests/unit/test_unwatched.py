"""When targets that nobody looks at are slowed, sampled as before, and detached."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tidscope_backend.ingest import unwatched
from tidscope_backend.ingest.unwatched import SLOW_HZ, UnwatchedTargets
from tidscope_wire.problems import refusal
from unit_targets import make_target


class Collector:
    """One attached target and its collector, which does what it is asked for."""

    def __init__(self, detach_s: float | None = 3600) -> None:
        self.asked: list[tuple[str, float | None]] = []
        self.targets = [make_target(rate_hz=20)]
        self.away = False
        self.now_s = 0.0
        registry, links = cast("Any", self), cast("Any", self)
        self._unwatched = UnwatchedTargets(registry, links, lambda: self.now_s, 60, detach_s)

    def pick(self, _host: str) -> "Collector":
        if self.away:
            raise refusal("no-collector", "it is away", "wait")
        return self

    async def set_rate(self, _target: str, rate_hz: float, _actor: object) -> None:
        self.asked.append(("rate", rate_hz))
        self.set(rate_hz=rate_hz)

    async def detach(self, _target: str, _actor: object) -> None:
        self.asked.append(("detach", None))
        self.set(state="detached")

    def set(self, **changes: object) -> None:
        self.targets = [self.targets[0].model_copy(update=changes)]

    async def after(self, seconds: float, *, looked_at: bool = False) -> list[Any]:
        """Look around each second for a while; returns what was asked for meanwhile."""
        before = len(self.asked)
        for _ in range(round(seconds)):
            self.now_s += 1
            self._unwatched.update([self.targets[0].id] if looked_at else [])
            for _ in range(3):
                await asyncio.sleep(0)
        return self.asked[before:]


async def test_after_a_minute_it_is_slowed_once_and_sampled_as_before_when_looked_at() -> None:
    one = Collector()
    assert await one.after(59) == []
    assert await one.after(200) == [("rate", SLOW_HZ)]
    assert await one.after(5, looked_at=True) == [("rate", 20)]
    assert await one.after(59) == []


async def test_while_somebody_looks_or_steers_nothing_is_done() -> None:
    one = Collector()
    assert await one.after(4000, looked_at=True) == []
    one.set(steering=SimpleNamespace())
    assert await one.after(4000) == []


async def test_a_rate_that_somebody_sets_meanwhile_is_kept() -> None:
    one = Collector()
    assert await one.after(70) == [("rate", SLOW_HZ)]
    one.set(rate_hz=50)
    assert await one.after(50) == []
    assert await one.after(1, looked_at=True) == []
    slow = Collector()
    slow.set(rate_hz=0.5)
    assert await slow.after(200) == []


async def test_it_is_detached_at_last_unless_that_is_off() -> None:
    one = Collector()
    assert await one.after(3700) == [("rate", SLOW_HZ), ("detach", None)]
    never = Collector(detach_s=None)
    assert await never.after(3700) == [("rate", SLOW_HZ)]


async def test_where_the_collector_is_away_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unwatched, "AGAIN_SECONDS", 0)
    one = Collector()
    one.away = True
    assert await one.after(70) == []
    one.away = False
    assert await one.after(5) == [("rate", SLOW_HZ)]
    one.away = True
    assert await one.after(5, looked_at=True) == []
    one.away = False
    assert await one.after(5, looked_at=True) == [("rate", 20)]
