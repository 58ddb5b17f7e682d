"""Share of faulty requests found, on HotROD.

HotROD's services run as processes of their own, with a relay between them; clients make requests.
Normal requests come first and are the reference; faulty and normal ones alternate after them.
Faults: HotROD's own three (which `-D`, `-W` and `-M` repair), delays and broken connections of the
relay, and processes that are stopped for a second. A request met a fault if it was made while that
was there: none is under way when a fault begins or ends, and the first ones after that, which
find no open connections, do not count. Half of the normal requests are made in batches, as those
that meet a stopped process are.

Of each fault `requests` and `recall`; of all `precision`, `recall` and `false_alarms` (of normal
requests that were judged). `against`: compared with the normal ones before; `within`: five of each
fault among all normal ones, each compared with all. `lof`: as in anomalies.py. `--keep FOLDER`
keeps the spans; `--judge FOLDER` judges kept ones. Run it with PYTHONPATH=tests.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from anomalies import lof
from ports import free_ports
from programs.hotrod import Hotrod
from switched_relay import SwitchedRelay, Way
from tidscope_backend.settings import SpanPorts
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.queries import SpanQueries, Wanted
from tidscope_backend.traces.receiving.receiver import Receiving, receiving
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.anomalies.detector import find_anomalies
from tidscope_traces.spans.model import Operation, group_spans
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise_all

ENDPOINT = Operation("frontend", "/dispatch")
CLIENTS = 8
TOKEN = "token-of-hotrod"
DELAY, WORKERS, MUTEX = ("-D", "100ms"), ("-W", "100"), ("-M",)
"""HotROD has three faults; each of these repairs one."""
NORMAL = (*DELAY, *WORKERS, *MUTEX)
WARM = 2 * CLIENTS
STOPPED_S = 1.0
PHASES = "phases.json"
FEW = 5
"""Requests with each fault among the normal ones, where each is compared with all."""


@dataclass(frozen=True)
class Phase:
    """Requests that were made under the same conditions.

    Attributes:
        fault: name of the fault; normal and learnt requests have none.
        begin_ns, end_ns: the first was made after, the last answered before; Unix nanoseconds.
        requests: number of requests.
    """

    fault: str
    begin_ns: int
    end_ns: int
    requests: int


Load = Callable[[int], None]


@dataclass(frozen=True)
class Fault:
    """Conditions, normal ones too.

    Attributes:
        make: makes a number of requests.
        begin: starts the conditions.
        end: ends the conditions.
    """

    make: Load
    begin: Callable[[], None] = lambda: None
    end: Callable[[], None] = lambda: None


class Services:
    """HotROD's services, with others beside them that have a fault; use as a ``with`` statement.

    Args:
        spans: destination of their spans.
    """

    def __init__(self, spans: str) -> None:
        self._spans = spans
        self._stack = ExitStack()

    def __enter__(self) -> "Services":
        start = self._start
        self.customer = start("customer", NORMAL)
        self.slow = start("customer", MUTEX)
        self.mutexed = start("customer", DELAY)
        self.driver = start("driver", NORMAL)
        self.route = start("route", NORMAL)
        ways = {
            "customer": Way(self.customer.ports[1]),
            "driver": Way(self.driver.ports[2]),
            "route": Way(self.route.ports[3]),
        }
        self.relay = self._stack.enter_context(SwitchedRelay(ways))
        self.ways = ways
        behind = [self.relay.ports[name] for name in ("customer", "driver", "route")]
        self.frontend = start("frontend", NORMAL, behind)
        self.crowded = start("frontend", (), behind)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self, name: str, options: Sequence[str], behind: Sequence[int] = ()) -> Hotrod:
        ports = [*free_ports(4 - len(behind)), *behind]
        service = Hotrod(self._spans, TOKEN, *options, service=name, ports=ports)
        return self._stack.enter_context(service)

    def faults(self) -> dict[str, Fault]:
        """Services by name."""
        return {
            "database 0.3 s, not 0.1 (-D)": self._by_way("customer", self.slow.ports[1]),
            "database mutex (-M)": self._by_way("customer", self.mutexed.ports[1]),
            "3 workers, not 100 (-W)": Fault(lambda requests: self._load(requests, self.crowded)),
            "customer +0.1 s": self._by_way("customer", delay_s=0.1),
            "driver +0.1 s": self._by_way("driver", delay_s=0.1),
            "route +0.05 s": self._by_way("route", delay_s=0.05),
            "route broken": self._by_way("route", broken=True),
            "customer broken": self._by_way("customer", broken=True),
            "customer stopped 1 s": self._stopped(self.customer),
            "driver stopped 1 s": self._stopped(self.driver),
            "route stopped 1 s": self._stopped(self.route),
        }

    def load(self, requests: int) -> None:
        """Make normal requests."""
        self._load(requests, self.frontend)

    def in_batches(self, requests: int) -> None:
        """Make normal requests, each client one at the same time."""
        for _ in range(0, requests, CLIENTS):
            self.load(CLIENTS)

    def _load(self, requests: int, frontend: Hotrod) -> None:
        frontend.load(requests, CLIENTS)

    def _by_way(
        self, name: str, port: int | None = None, delay_s: float = 0.0, *, broken: bool = False
    ) -> Fault:
        way = Way(self.ways[name].port if port is None else port, delay_s, broken)
        return Fault(
            self.load,
            lambda: self.relay.set(name, way),
            lambda: self.relay.set(name, self.ways[name]),
        )

    def _stopped(self, service: Hotrod) -> Fault:
        def make(requests: int) -> None:
            for _ in range(0, requests, CLIENTS):
                with _stopped_for(service.pid, STOPPED_S):
                    self.load(CLIENTS)

        return Fault(make)


@contextmanager
def _stopped_for(pid: int, seconds: float) -> Iterator[None]:
    """Stop a process for a duration, in seconds."""
    os.kill(pid, signal.SIGSTOP)
    waker = Timer(seconds, os.kill, (pid, signal.SIGCONT))
    waker.start()
    try:
        yield
    finally:
        waker.join()


async def measure(folder: Path, learnt: int, each: int) -> None:
    """Make all requests, and keep their spans and phases in a folder."""
    store = SpanStore(lambda: folder, folder, SpanRetention(None, None), time.time)
    state = Receiving()
    async with receiving(store, TOKEN, SpanPorts(0, 0), state, lambda _names: None):
        phases = await asyncio.to_thread(
            make_requests, f"http://127.0.0.1:{state.http_port}/v1/traces", learnt, each
        )
        # Spans come within a second or so; they are all here when no more come for two.
        before = -1
        while before != store.counts.stored:
            before = store.counts.stored
            await asyncio.sleep(2)
    store.close()
    (folder / PHASES).write_text(json.dumps([asdict(one) for one in phases]))


def make_requests(spans: str, learnt: int, each: int) -> list[Phase]:
    """Normal requests, and such that meet faults, in turns."""
    phases: list[Phase] = []
    with Services(spans) as services:

        def phase(name: str, fault: Fault, requests: int) -> None:
            fault.begin()
            fault.make(WARM)
            begin_ns = time.time_ns()
            fault.make(requests)
            phases.append(Phase(name, begin_ns, time.time_ns(), requests))
            fault.end()

        ways = (Fault(services.load), Fault(services.in_batches))
        for number in range(0, learnt, each):
            phase("learnt", ways[number // each % 2], each)
        for number, (name, fault) in enumerate(services.faults().items()):
            phase("normal", ways[number % 2], each)
            phase(name, fault, each)
        time.sleep(2)
    return phases


def read(folder: Path) -> tuple[list[Phase], Summaries, list[str]]:
    """Phases, and requests with the fault that each met."""
    phases = [Phase(**one) for one in json.loads((folder / PHASES).read_text())]
    store = SpanStore(lambda: folder, folder, SpanRetention(None, None), time.time)
    spans = SpanQueries(store.read).choose(Wanted(), 10_000_000).spans
    every = summarise_all(group_spans(spans), Options(endpoint=ENDPOINT, calls=True))
    faults = [
        next((one.fault for one in phases if one.begin_ns <= trace.start_ns < one.end_ns), "")
        for trace in every.traces
    ]
    return (
        phases,
        every.select(at for at, fault in enumerate(faults) if fault),
        [fault for fault in faults if fault],
    )


def judge(found: Collection[int], faults: Sequence[str]) -> dict[str, Any]:
    """Compare what was found with the faults.

    Args:
        found: places of requests.
        faults: faults that each request met.
    """
    total = Counter(faults)
    hits = Counter(faults[place] for place in found)
    alarms, normal = hits.pop("normal", 0), total.pop("normal")
    right = sum(hits.values())
    return {
        "precision": round(right / max(1, right + alarms), 4),
        "recall": round(right / sum(total.values()), 4),
        "false_alarms": round(alarms / normal, 4),
        "faults": {
            fault: {"requests": count, "recall": round(hits[fault] / count, 4)}
            for fault, count in total.items()
        },
    }


def figures_of(summaries: Summaries, faults: Sequence[str]) -> dict[str, Any]:
    """Both comparisons, by tidscope and by the local outlier factor."""
    learnt = [at for at, fault in enumerate(faults) if fault == "learnt"]
    later = [at for at, fault in enumerate(faults) if fault != "learnt"]
    few: Counter[str] = Counter()
    among = []
    for at, fault in enumerate(faults):
        few[fault] += 1
        if fault in ("learnt", "normal") or few[fault] <= FEW:
            among.append(at)
    figures: dict[str, Any] = {}
    for name, places, reference in (("against", later, learnt), ("within", among, None)):
        own = summaries.select(places)
        known = None if reference is None else summaries.select(reference)
        met = [faults[at].replace("learnt", "normal") for at in places]
        theirs = lof(own, known)
        figures[name] = judge([one.place for one in find_anomalies(own, known)], met)
        figures[f"{name} lof"] = None if theirs is None else judge(theirs, met)
    return figures


def main() -> int:
    """Measure, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learnt", type=int, default=480, help="normal requests to learn from")
    parser.add_argument("--each", type=int, default=64, help="requests of each other phase")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the spans there")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="judge spans that were kept")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidscope-hotrod-") as temporary:
        folder = options.judge or options.keep or Path(temporary)
        if options.judge is None:
            folder.mkdir(parents=True, exist_ok=True)
            asyncio.run(measure(folder, options.learnt, options.each))
        phases, summaries, faults = read(folder)
    traces = Counter(faults)
    figures = {
        "learnt": traces["learnt"],
        "normal": traces["normal"],
        "without_trace": sum(phase.requests for phase in phases) - len(faults),
        **figures_of(summaries, faults),
    }
    print(json.dumps(figures, indent=None if options.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
