"""Which process a span names: numbers of containers and of other hosts are not this host's."""

import pytest
from backend_builders import process
from tidscope_backend.traces.joining.places import (
    Origin,
    began_after,
    is_process,
    origin_of,
)
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import ProcessContainer

CONTAINER = "0123456789abcdef" * 4
OTHER = "f" * 64
HERE = "bench.example.com"
PLAIN = process(100)
BOXED = process(100).model_copy(
    update={
        "namespace_pid": 7,
        "container": ProcessContainer(id=CONTAINER, name="shop", runtime="docker", pod=None),
    }
)


@pytest.mark.parametrize(
    ("origin", "plain", "boxed"),
    [
        (Origin(100), True, True),
        (Origin(7), False, False),
        (Origin(100, "bench"), True, True),
        (Origin(100, "BENCH.example.com"), True, True),
        (Origin(100, "bench.example.org"), False, False),
        (Origin(100, "elsewhere"), False, False),
        (Origin(7, "elsewhere", CONTAINER), False, True),
        # A container may have the name of its host.
        (Origin(7, HERE, CONTAINER), False, True),
        (Origin(7, "", CONTAINER[:12]), False, True),
        (Origin(7, "", CONTAINER[:11]), False, False),
        (Origin(7, "", OTHER), False, False),
        # Docker calls the host of a container as it begins.
        (Origin(7, CONTAINER[:12]), False, True),
        (Origin(8, "", CONTAINER), False, False),
        # Who sets process.pid to the number outside is understood.
        (Origin(100, "", CONTAINER), False, True),
        (Origin(100, "", OTHER), False, False),
    ],
)
def test_a_number_counts_where_it_is_known_whose_it_is(
    origin: Origin, plain: bool, boxed: bool
) -> None:
    assert is_process(origin, PLAIN, HERE) == plain
    assert is_process(origin, BOXED, HERE) == boxed


def test_what_a_span_says_of_its_process() -> None:
    span = Span("1" * 32, "1" * 16, "", "shop", "GET /", 0, 1)
    assert origin_of(span) is None
    assert origin_of(span._replace(pid=7)) == Origin(7)
    attributes = {"host.name": "bench", "container.id": CONTAINER}
    assert origin_of(span._replace(pid=7, attributes=attributes)) == Origin(7, "bench", CONTAINER)


def test_a_process_that_began_later_had_no_part() -> None:
    began_ns = PLAIN.started_unix_ms * 1_000_000
    assert not began_after(PLAIN, began_ns)
    assert not began_after(PLAIN, began_ns - 900_000_000)
    assert began_after(PLAIN, began_ns - 2_000_000_000)
