"""Health is made once a second, at the end, and when it may not be a second old."""

from builders import collector_health
from tidscope_collector.sampling.health import MADE_NS, HealthNow
from tidscope_wire.generated.models import CollectorHealth


def test_health_is_made_when_it_is_due() -> None:
    made: list[CollectorHealth] = []
    rates = [10.0]

    def make() -> CollectorHealth:
        made.append(collector_health())
        return made[-1]

    health = HealthNow(make, lambda: rates[-1])
    first = health.read(5)
    assert health.read(5 + MADE_NS - 1) is first
    assert health.read(5 + MADE_NS) is made[1]
    rates.append(4.0)
    assert health.read(6 + MADE_NS) is made[2]
    assert health.read(7 + MADE_NS) is made[2]
    assert health.read(8 + MADE_NS, last=True) is made[3]
    assert len(made) == 4
