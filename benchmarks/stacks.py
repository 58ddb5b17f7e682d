"""Cost of taking stacks (docs/stacks.md), for programs that are watched and for others.

Programs run while ledgers are kept alone and while stacks are taken as well, by a fresh worker each
time, in turn; see estimates.py. CPU time per operation decides. Where `perf record -g` works, it is
a third state: at each context switch of the program, or at 49 Hz, as the part needs.

- `idle`: the keeper waits, against none; `idle_cpu_ms` is its CPU time in a block. Two threads wake
  each other through pipes (ping_pong.c), with nothing attached (`unwatched`) and with ledgers
  (`watched`).
- `switches`: the same while stacks are taken of one such program: what a switch costs it more, and
  another program that nobody watches. `copies_lost_percent` is what a third one loses that reads
  files and nothing else (copying.c): processors copy slowly while they watch memory. `stack_ns` is
  the cost of a stack: the difference in a round with many, divided by their number.
  `stack_alone_ns` is the least that workers measured on themselves.
- `server`: a program that computes between switches, 20,000 of them a second: the throughput that
  it loses. `nginx` loses `nginx_lost_percent` while visitors load pages.
- `computing`: a program that hardly switches, looked at 49 times a second.
- `start`: time until the first stack, and resident memory of keeper and worker.

`perf` is its version, or why it is not measured. `profiler_off_cpu` is what the kernel says to the
mode for waits that the unwinder's own profiler has, which needs kprobes.

`met` says which figures are within what was asked for; of an estimate its value counts. The figure
of `idle` is met if the interval contains 0.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attached import Attached
from estimates import Estimate, Floats, alternate, mean, ratio
from hooks import await_no_others
from netacct import Load, Window
from running import build, wakers
from stack_states import (
    OFF,
    ON,
    PERF,
    PERF_OFF_CPU,
    PERF_ON_CPU,
    States,
    Taker,
    perf_version,
    why_no_kprobes,
    why_no_perf,
)
from tidscope_collector.stacks.program import StackProgram, start_program
from web_server import CLIENTS, WebServer, unpack

PARTS = ("idle", "switches", "server", "nginx", "computing", "start")
NONE, IDLE = "none", "idle"
SWITCHES = 2
"""In one exchange of ping_pong; as many wake-ups."""
SERVER_SWITCHES = 20_000
"""Switches a second of the program that stands for a server."""
COMPUTING_NS = 10_000_000
"""CPU time between two switches of the program that computes."""
SPEND_S = 0.2
"""CPU time of a round."""
SETTLING_ROUNDS = 3
ROUNDS = 5
"""Rounds of part `switches` in a state, of which the median counts: some are disturbed."""
FIRST_STACKS = 5
THREADS, PERIOD_MS = 4, 5
"""The program of part `start`: its threads, and how often each wakes up."""
ASKED = {
    "unwatched_ns": 40.0,
    "watched_ns": 200.0,
    "copies_lost_percent": 1.0,
    "server_lost_percent": 2.0,
    "computing_lost_percent": 1.0,
    "rss_mb": 80.0,
}
"""The most that each figure should be."""


def program() -> StackProgram:
    """Start a keeper. Raises SystemExit if that is impossible."""
    started = start_program()
    if not isinstance(started, StackProgram):
        raise SystemExit(f"no stacks here: {started.reason}. {started.fix}")
    return started


def cpu_of(keeper: StackProgram | None) -> float:
    """CPU time of a keeper so far, in seconds; 0 without one."""
    if keeper is None:
        return 0.0
    return time.clock_gettime(~keeper.pid << 3 | 2)  # CPUCLOCK_SCHED, linux/posix-timers.h


def figure(name: str, estimate: Estimate, digits: int) -> dict[str, Any]:
    """A figure with its interval."""
    value, interval = estimate.rounded(digits)
    return {name: value, f"{name.rpartition('_')[0] or name}_interval": interval}


def measure_idle(executable: Path, blocks: int, core: int, beside_others: bool) -> dict[str, Any]:
    """Measure the cost of a switch with a keeper that waits."""
    attached = Attached(ledger="auto")
    ledgers = attached.sources.ledger.program
    assert ledgers is not None
    load = Load([str(executable), str(SPEND_S)], core)
    cpu_s: list[float] = []

    def one(state: str) -> tuple[float, ...]:
        if not beside_others:
            await_no_others("sched_")
        keeper = program() if state == IDLE else None
        if keeper is not None:
            keeper.lend(ledgers.stack_maps)
        load.settle()
        before = cpu_of(keeper)
        unwatched, _ = load.round()
        attached.watch(load.pid)
        load.settle()
        watched, _ = load.round()
        attached.forget(load.pid)
        if keeper is not None:
            cpu_s.append(cpu_of(keeper) - before)
            keeper.close()
        return unwatched, watched

    try:
        found = alternate((NONE, IDLE), blocks, one, seed=blocks)
    finally:
        load.close()
        attached.close()
    unwatched, watched = (found[IDLE] - found[NONE]) / SWITCHES
    return {
        **figure("idle_unwatched_ns", mean(unwatched), 1),
        **figure("idle_watched_ns", mean(watched), 1),
        "idle_cpu_ms": round(1000 * statistics.median(cpu_s), 3),
    }


def measure_switches(
    taker: Taker, attached: Attached, folder: Path, blocks: int, core: int, states: States
) -> dict[str, Any]:
    """Measure the cost of a switch while stacks are taken, of a stack, and of copies."""
    executable = folder / "ping_pong"
    copies = Load([str(build("copying", folder)), str(SPEND_S)], core)
    watched = Load([str(executable), str(SPEND_S)], core)
    unwatched = Load([str(executable), str(SPEND_S)], core)

    def measure() -> tuple[float, ...]:
        of_copies, of_unwatched, of_watched = map(typical, (copies, unwatched, watched))
        before = taker.taken()
        # After that pause nearly all stays are chosen for a while: more stacks than usually.
        of_stacks, _ = watched.round()
        taken = (taker.taken() - before) * of_stacks / SPEND_S / 1e9
        return of_unwatched, of_watched, of_stacks, taken, of_copies

    attached.watch(watched.pid)
    try:
        found = alternate(states.names, blocks, states.within(watched.pid, measure), seed=blocks)
    finally:
        attached.forget(watched.pid)
        for load in (watched, unwatched, copies):
            load.close()
    more = {name: (found[name] - found[OFF]) for name in states.names[1:]}
    figures = {
        "switch_ns": round(mean(found[OFF][0] / SWITCHES).value, 1),
        "watched_switch_ns": round(mean(found[OFF][1] / SWITCHES).value, 1),
        **figure("unwatched_ns", mean(more[ON][0] / SWITCHES), 1),
        **figure("watched_ns", mean(more[ON][1] / SWITCHES), 1),
        **figure("copies_lost_percent", mean(100 * (1 - found[OFF][4] / found[ON][4])), 2),
        **figure("stack_ns", ratio(more[ON][2], found[ON][3]), 0),
        "stack_alone_ns": min(taker.stack_ns),
    }
    if PERF in found:
        figures |= figure("perf_unwatched_ns", mean(more[PERF][0] / SWITCHES), 1)
        figures |= figure("perf_watched_ns", mean(more[PERF][1] / SWITCHES), 1)
    return figures


def steps_for(executable: Path, core: int, cpu_ns: float) -> int:
    """Return steps with which an exchange of ping_pong takes so much CPU time."""
    steps = 10_000
    for _ in range(3):
        load = Load([str(executable), str(SPEND_S), str(steps)], core)
        steps = max(1, round(steps * cpu_ns / load.round()[0]))
        load.close()
    return steps


def lost(found: dict[str, Floats], prefix: str) -> dict[str, Any]:
    """Throughput that a program loses: of its CPU time, and as it was with what else ran."""
    figures: dict[str, Any] = {}
    for name, before in ((ON, ""), (PERF, "perf_")):
        if name in found:
            cpu, wall = 100 * (1 - found[OFF] / found[name])[:2]
            figures |= figure(f"{before}{prefix}_lost_percent", mean(cpu), 2)
            figures |= figure(f"{before}{prefix}_wall_lost_percent", mean(wall), 2)
    return figures


def measure_program(
    attached: Attached, executable: Path, steps: int, blocks: int, core: int, states: States
) -> dict[str, Floats]:
    """Nanoseconds of an exchange of ping_pong, of CPU and on the wall, in each state."""
    load = Load([str(executable), str(SPEND_S), str(steps)], core)
    attached.watch(load.pid)
    try:
        return alternate(states.names, blocks, states.within(load.pid, settled(load)), seed=blocks)
    finally:
        attached.forget(load.pid)
        load.close()


def settled(load: Load | Window) -> Callable[[], tuple[float, ...]]:
    """Return a function that measures a round after some that do not count."""

    def measure() -> tuple[float, ...]:
        settle(load)
        return load.round()

    return measure


def typical(load: Load) -> float:
    """Return nanoseconds of CPU time of an operation, in a steady state."""
    settle(load)
    return statistics.median(load.round()[0] for _ in range(ROUNDS))


def settle(load: Load | Window) -> None:
    """Run until chances follow the program's stays, and no CPU has saved up stacks."""
    for _ in range(SETTLING_ROUNDS):
        load.settle()


def measure_nginx(attached: Attached, blocks: int, cores: tuple[int, int], states: States) -> Any:
    """Measure the throughput that nginx loses while visitors load pages."""
    unpack()
    with WebServer(cores[0]) as server:
        clients = server.load(CLIENTS[0], cores[1], 3600)
        window = Window(server, SPEND_S)
        attached.watch(server.worker)
        try:
            measure = states.within(server.worker, settled(window))
            return lost(alternate(states.names, blocks, measure, seed=blocks), "nginx")
        finally:
            attached.forget(server.worker)
            clients.kill()
            clients.wait()


def measure_start(attached: Attached, taker: Taker) -> dict[str, Any]:
    """Time until the first stack, and the memory of all workers up to now."""
    with wakers(THREADS, PERIOD_MS) as pid:
        attached.watch(pid)
        first = [taker.first_stack(pid) for _ in range(FIRST_STACKS)]
        attached.forget(pid)
    megabytes = {name: size / 1e6 for name, size in taker.rss.items()}
    return {
        "first_stack_s": {
            "median": round(statistics.median(first), 2),
            "max": round(max(first), 2),
        },
        "loaded_s": {"min": round(min(taker.loads), 2), "max": round(max(taker.loads), 2)},
        **{f"{name}_rss_mb": round(size, 1) for name, size in megabytes.items()},
        "rss_mb": round(sum(megabytes.values()), 1),
    }


def met(figures: dict[str, Any]) -> dict[str, bool]:
    """Compare each measured figure with its limit in ASKED."""
    verdicts = {name: figures[name] <= most for name, most in ASKED.items() if name in figures}
    for name in ("idle_unwatched", "idle_watched"):
        if f"{name}_interval" in figures:
            low, high = figures[f"{name}_interval"]
            verdicts[name] = low <= 0 <= high
    return verdicts


def measure(
    parts: Sequence[str], blocks: int, folder: Path, with_perf: bool, beside_others: bool
) -> dict[str, Any]:
    """All figures of some parts."""
    *_, other, core = sorted(os.sched_getaffinity(0))
    executable = build("ping_pong", folder)
    figures: dict[str, Any] = {}
    if "idle" in parts:
        figures |= measure_idle(executable, blocks, core, beside_others)
    without_perf = why_no_perf(folder) if with_perf else "left out"
    keeper = program()
    attached = Attached(ledger="auto", stacks=keeper)
    taker = Taker(attached, keeper)
    data = None if without_perf else folder
    off_cpu, on_cpu = States(taker, data, PERF_OFF_CPU), States(taker, data, PERF_ON_CPU)
    try:
        if "switches" in parts:
            figures |= measure_switches(taker, attached, folder, blocks, core, off_cpu)
        if "server" in parts:
            steps = steps_for(executable, core, SWITCHES * 1e9 / SERVER_SWITCHES)
            found = measure_program(attached, executable, steps, blocks, core, off_cpu)
            figures["server_switches_a_second"] = round(SWITCHES * 1e9 / mean(found[OFF][1]).value)
            figures |= lost(found, "server")
        if "nginx" in parts:
            figures |= measure_nginx(attached, blocks, (core, other), off_cpu)
        if "computing" in parts:
            steps = steps_for(executable, core, COMPUTING_NS)
            found = measure_program(attached, executable, steps, blocks, core, on_cpu)
            figures |= lost(found, "computing")
        if "start" in parts:
            figures |= measure_start(attached, taker)
    finally:
        attached.close()
    return figures | {
        "trigger": taker.trigger,
        "perf": without_perf or perf_version(),
        "profiler_off_cpu": f"not measured: {why_no_kprobes() or 'it could run here'}",
    }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What taking stacks costs.")
    parser.add_argument("--blocks", type=int, default=40, help="how often each state is met")
    parser.add_argument("--part", action="append", choices=PARTS, help="may be repeated")
    parser.add_argument("--no-perf", action="store_true", help="leave `perf record -g` out")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="measure while other collectors run, whose programs are at work in all states then",
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # Leaves no server behind.
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(
            arguments.part or PARTS,
            arguments.blocks,
            Path(folder),
            not arguments.no_perf,
            arguments.beside_others,
        )
    figures |= {"met": met(figures), "blocks": arguments.blocks, "load": os.getloadavg()[0]}
    figures |= {"beside_others": arguments.beside_others, "unix_s": round(time.time())}
    figures["release"] = os.uname().release
    sys.stdout.write(json.dumps(figures, indent=None if arguments.json else 2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
