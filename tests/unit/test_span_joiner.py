"""Spans joined with a process: threads that its runtime keeps for itself serve no request."""

import numpy as np
from tidscope_backend.traces.joining.joiner import join, runtime_threads
from tidscope_backend.traces.joining.observed import Observed
from tidscope_backend.traces.joining.places import Origin, Place, Places
from tidscope_backend.traces.joining.timeline import REASONS, Timeline
from tidscope_traces.critical.path import critical_path
from tidscope_traces.spans.model import Span, make_trace

SPAN = Span("1" * 32, "1" * 16, "", "shop", "GET /", 0, 100_000_000, pid=7)


class AtOnePlace(Places):
    """Everything was measured at one place."""

    def __init__(self, place: Place) -> None:
        super().__init__([], [], lambda _: NotImplemented)
        self.place = place

    def find(self, origin: Origin, window: tuple[int, int]) -> Place:
        return self.place


def only(state: str) -> Timeline:
    """A thread that is in one state all the time."""
    place = REASONS.index(state)
    totals = np.zeros((2, len(REASONS)), np.int64)
    totals[1, place] = SPAN.end_ns
    times = np.array([0, SPAN.end_ns])
    return Timeline(times, totals, np.full(2, place), np.zeros(2, np.int64), SPAN.end_ns)


def test_a_monitor_in_the_run_queue_is_no_time_of_the_request() -> None:
    threads = {1: ("hotrod", "polling"), 2: ("sysmon", "runnable"), 3: ("hotrod", "locks")}
    seen = Observed(
        names={tid: name for tid, (name, _) in threads.items()},
        to_ns=SPAN.end_ns,
        _ended={tid: [only(state)] for tid, (_, state) in threads.items()},
    )
    place = Place("t-1", None, None, seen)
    (found,) = join(critical_path(make_trace(SPAN.trace_id, [SPAN])), AtOnePlace(place))
    assert [(part.reason, part.ns) for part in found.parts] == [("idle", SPAN.end_ns)]
    assert found.note == ("Not counted: threads of the runtime itself, at work for sysmon 100 ms.")


def test_names_are_a_runtimes_where_it_is_that_runtime() -> None:
    java = {1: "http-nio-8080-e", 2: "VM Periodic Tas", 3: "GC Thread#0", 4: "C2 CompilerThre"}
    assert runtime_threads(java, java) == {2, 3, 4}
    whole = {1: "VM Periodic Task Thread", 2: "Signal Dispatcher", 3: "worker", 4: ""}
    assert runtime_threads(whole, [*whole, 5]) == {1, 2}
    # Another program may call a thread that serves requests so.
    assert runtime_threads({1: "Service Thread", 2: "GC Thread#0"}, [1, 2]) == set()
