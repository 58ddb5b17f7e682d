"""Workloads of experiments: conditions, requests and rings."""

import ctypes
import json
import mmap
import os
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from capabilities import missing
from tidscope_backend.experiments import conditions
from tidscope_backend.experiments.conditions import (
    Conditions,
    figures_between,
    parse_stat,
    wait_until_quiet,
    warnings_of,
)
from tidscope_backend.experiments.program import LINK, Ring, parse_ring, read_rings, ring_counts
from tidscope_backend.experiments.requests import (
    Request,
    requests_of_pool,
    requests_of_spans,
    trace_text,
)
from tidscope_backend.experiments.workload import ExperimentError

STAT = "cpu  100 50 30 800 5 10 5 20 7 3\ncpu0 1 2 3\n"


def test_busy_and_stolen_time_of_all_cpus() -> None:
    ticks = conditions.TICKS
    # Guests are in user and nice already.
    assert parse_stat(STAT) == (195 / ticks, 20 / ticks, 1020 / ticks)
    with pytest.raises(ValueError, match="all CPUs"):
        parse_stat("cpu0 1 2 3 4 5 6 7 8\n")


def test_what_is_not_ours_is_of_others() -> None:
    before, after = Conditions(10.0, 1.0, 100.0, 5.0), Conditions(16.0, 1.5, 120.0, 9.0)
    figures = figures_between(before, after)
    assert figures == {"steal_share": 0.5 / 20, "other_share": 2.0 / 20}
    assert warnings_of(figures) == ["The hypervisor took 2% of the CPU time (steal)."]
    assert figures_between(Conditions(None, None, None, 0.0), after) == {}


def readings(monkeypatch: pytest.MonkeyPatch, busy: list[float]) -> list[float]:
    """Simulate the busy share of each second of two CPUs; return the observed seconds."""
    observed_s, total = [0.0], [0.0]

    def read(_: type[Conditions]) -> Conditions:
        return Conditions(total[0], 0.0, 2 * observed_s[0], 0.0)

    def sleep(seconds: float) -> None:
        total[0] += 2 * seconds * busy[min(int(observed_s[0]), len(busy) - 1)]
        observed_s[0] += seconds

    monkeypatch.setattr(Conditions, "now", classmethod(read))
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: observed_s[0])
    return observed_s


def test_a_repeat_waits_until_the_machine_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    observed_s = readings(monkeypatch, [0.5, 0.5, 0.5, 0.02])
    wait_until_quiet(10.0)
    assert 3.0 < observed_s[0] < 4.0


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    observed_s = readings(monkeypatch, [0.5])
    wait_until_quiet(2.0)
    assert observed_s[0] == pytest.approx(2.0)
    wait_until_quiet(0.0)
    assert observed_s[0] == pytest.approx(2.0)


def span(start_us: int, lasted_us: int, **more: Any) -> dict[str, Any]:
    # OTLP/JSON writes 64-bit numbers as text.
    begun = 1_790_000_000_000_000_000 + start_us * 1000
    ends = str(begun + lasted_us * 1000)
    return {"startTimeUnixNano": str(begun), "endTimeUnixNano": ends, **more}


def exported(service: str, *spans: dict[str, Any]) -> str:
    name = {"key": "service.name", "value": {"stringValue": service}}
    return json.dumps(
        {
            "resourceSpans": [
                {"resource": {"attributes": [name]}, "scopeSpans": [{"spans": list(spans)}]}
            ]
        }
    )


def test_spans_of_servers_become_a_trace() -> None:
    text = "\n".join(
        [
            exported("web", span(500, 2000, kind=2), span(510, 10, kind=3, parentSpanId="a")),
            exported("shop", span(0, 1000, kind="SPAN_KIND_SERVER"), span(800, 101, kind=5)),
        ]
    )
    lines = trace_text(requests_of_spans(text), 9).splitlines()
    # Durations are divided by 1 + 9: computing is a tenth of them.
    assert lines[1:] == ["1 1 0 100", "2 2 500 200", "3 1 300 10"]


def test_without_servers_spans_without_a_parent_are_requests() -> None:
    text = exported("web", span(0, 100, kind=1), span(10, 50, kind=1, parentSpanId="a"))
    assert [one.duration_ns for one in requests_of_spans(text)] == [100_000]


@pytest.mark.parametrize("text", ["", "{}", "nothing", '{"resourceSpans": [{"scopeSpans": 1}]}'])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match=r"no spans of OTLP/JSON|there is no request"):
        requests_of_spans(text)


def reading(second: float, name: str, submitted: int | None, finished: int, run_ms: int) -> Any:
    return {
        "read_ns": round(second * 1e9),
        "name": name,
        "submitted": submitted,
        "finished": finished,
        "run_ns": run_ms * 1_000_000,
    }


def test_readings_of_a_pool_become_requests() -> None:
    readings = [
        reading(1, "jobs", 10, 10, 100),
        reading(1, "few", 1, 1, 1),
        reading(2, "jobs", 14, 12, 120),
        reading(3, "jobs", 14, 14, 160),
        reading(4, "jobs", 16, 16, 200),
    ]
    found = requests_of_pool(readings, "")
    # In the second interval none came.
    assert found == [
        *(Request(round((1 + at / 4) * 1e9), "jobs", 10e6) for at in range(4)),
        Request(3_000_000_000, "jobs", 20e6),
        Request(3_500_000_000, "jobs", 20e6),
    ]
    with pytest.raises(ExperimentError, match="it needs a finished job of pool 'few'"):
        requests_of_pool(readings, "few")
    with pytest.raises(ExperimentError, match="it needs a pool that counts jobs"):
        requests_of_pool([], "")


def test_a_trace_is_read_by_the_workload(tmp_path: Path) -> None:
    found = trace_text([Request(0, "a", 1e6), Request(1_000_000, "b", 5e6)], 4)
    numbers = [line.split() for line in found.splitlines() if not line.startswith("#")]
    assert numbers == [["1", "1", "0", "200"], ["2", "2", "1000", "1000"]]


FDINFO = """pos:\t0
flags:\t02000002
SqMask:\t0xff
SqHead:\t{submitted}
SqTail:\t9
CachedSqHead:\t{submitted}
CqMask:\t0x1ff
CqHead:\t7
CqTail:\t7
CachedCqTail:\t{completed}
SQEs:\t0
"""


def made(proc: Path, rings: dict[str, tuple[int, int]]) -> None:
    for name in ("fd", "fdinfo"):
        (proc / "7" / name).mkdir(parents=True, exist_ok=True)
    for name, (submitted, completed) in rings.items():
        (proc / "7" / "fd" / name).symlink_to(LINK)
        text = FDINFO.format(submitted=submitted, completed=completed)
        (proc / "7" / "fdinfo" / name).write_text(text)


def test_rings_of_a_process(tmp_path: Path) -> None:
    made(tmp_path, {"5": (10, 8), "9": (4, 4)})
    (tmp_path / "7" / "fd" / "6").symlink_to("socket:[1]")
    (tmp_path / "7" / "fd" / "11").symlink_to(LINK)  # Closed in between: no counts.
    assert read_rings(7, tmp_path) == {"5": Ring(10, 8), "9": Ring(4, 4)}
    assert read_rings(8, tmp_path) == {}


def test_a_process_without_rings_has_no_figures() -> None:
    assert ring_counts({}, read_rings(os.getpid())) == {}


def test_what_is_counted_between_two_readings() -> None:
    before = {"5": Ring(2**32 - 10, 100)}
    after = {"5": Ring(30, 150), "9": Ring(8, 6)}
    # The ring 5 began at 0 again, and 9 is new.
    assert ring_counts(before, after) == {
        "rings": 2.0,
        "ring_submissions": 40 + 8,
        "ring_completions": 50 + 6,
    }


class NopRing:
    """A ring of this process (io_uring_setup(2)), for requests that do nothing."""

    ENTRIES, SQES = 8, 0x10000000

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        self._call, self._map = library.syscall, library.mmap
        parameters = bytearray(120)
        self.fd = self._call(425, self.ENTRIES, (ctypes.c_char * 120).from_buffer(parameters))
        if self.fd < 0:
            raise missing("io_uring", os.strerror(ctypes.get_errno()))
        # struct io_sqring_offsets begins at 40: head, tail, mask, entries, flags, dropped, array.
        offsets = struct.unpack_from("7I", parameters, 40)
        self._tail, self._array = offsets[1], offsets[6]
        self._queue = self._mapped(self._array + 4 * self.ENTRIES, 0)
        self._entries = self._mapped(64 * self.ENTRIES, self.SQES)

    def _mapped(self, size: int, offset: int) -> "ctypes.Array[ctypes.c_char]":
        """Not mmap.mmap, which makes another descriptor of the ring."""
        flags = (mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED)
        place = self._map(None, ctypes.c_size_t(size), *flags, self.fd, ctypes.c_long(offset))
        return (ctypes.c_char * size).from_address(place)

    def submit(self, count: int) -> None:
        """Submit so many requests, and wait until they are complete."""
        (tail,) = struct.unpack_from("I", self._queue, self._tail)
        for at in range(tail, tail + count):
            # All zeros: IORING_OP_NOP.
            struct.pack_into("I", self._queue, self._array + 4 * (at % self.ENTRIES), 0)
        struct.pack_into("I", self._queue, self._tail, tail + count)
        assert self._call(426, self.fd, count, count, 1, None, 0) == count

    def close(self) -> None:
        os.close(self.fd)


def test_the_kernel_counts_as_is_expected() -> None:
    ring = NopRing()
    try:
        ring.submit(3)
        before = read_rings(os.getpid())
        assert before[str(ring.fd)] == Ring(3, 3)
        ring.submit(5)
        ring.submit(2)
        found = ring_counts(before, read_rings(os.getpid()))
        assert found == {"rings": 1.0, "ring_submissions": 7.0, "ring_completions": 7.0}
    finally:
        ring.close()


def test_an_fdinfo_without_counts_is_refused() -> None:
    with pytest.raises(KeyError):
        parse_ring("pos:\t0\n")
