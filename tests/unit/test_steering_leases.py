"""Steering whose lease is not renewed ends."""

import queue
import threading
from functools import partial

from tidscope_collector.steering.command_leases import SteeringLeases

LONG_S = 3600.0


class Lapsed:
    """Leases, and the targets that were released."""

    def __init__(self) -> None:
        self.targets: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.leases = SteeringLeases(self.targets.put)

    def timers(self) -> list[threading.Thread]:
        return [one for one in threading.enumerate() if one.name.startswith("lease-")]


def test_a_lease_that_is_not_renewed_lapses_once() -> None:
    lapsed = Lapsed()
    lapsed.leases.hold("a", 0.01)
    assert lapsed.targets.get(timeout=60) == "a"
    lapsed.leases.renew("a")  # Too late.
    assert lapsed.timers() == []
    assert lapsed.targets.empty()


def test_a_renewed_lease_begins_again() -> None:
    lapsed = Lapsed()
    lapsed.leases.hold("a", LONG_S)
    (before,) = lapsed.timers()
    lapsed.leases.renew("a")
    before.join(60)
    (now,) = lapsed.timers()
    assert now is not before
    lapsed.leases.close()
    now.join(60)
    assert lapsed.targets.empty()


def test_steering_without_a_lease_ends_the_one_before() -> None:
    lapsed = Lapsed()
    for end in (partial(lapsed.leases.hold, "a", None), partial(lapsed.leases.drop, "a")):
        lapsed.leases.hold("a", LONG_S)
        (timer,) = lapsed.timers()
        end()
        timer.join(60)
        assert lapsed.timers() == []
    lapsed.leases.renew("a")
    assert lapsed.timers() == []
    assert lapsed.targets.empty()
