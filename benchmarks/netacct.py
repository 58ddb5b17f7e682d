"""Cost of counting network bytes by eBPF, against the least that any eBPF program can cost.

Loads run while nothing is attached, with empty programs on the same hooks (the physical limit), and
with ours, in turn: see estimates.py. CPU time per operation decides. Throughput is printed too,
but it also holds what else took the processor: a saturated server's throughput is the CPU time it
had over the CPU time of a request, and only the latter depends on what is attached.

`ratio_to_empty` is of the cheapest socket calls there are, datagrams of 64 bytes to oneself, by
socket_load.c: (ours - nothing) / (empty - nothing). `calls` has what a call costs there with
programs of increasing content (hook_programs.bpf.c), and for `bystander`, whose calls are not
counted since another process is attached to. `kernel_ns` is the kernel's own account of a run
(BPF_ENABLE_STATS): without what it takes to get into the program, but with two clock readings.
`cases` are other loads of socket_load.c. `server_overhead_percent` is what nginx loses when
visitors load pages; `servers` has two more clients (web_server.py), and `expected_percent`: calls a
request times what a call costs, over the CPU time of a request, which noise hardly moves. A round
during which somebody else's programs were attached is measured again.

Between a change of state and a round the load runs for a while that does not count: looking for
others' programs (bpftool) and attaching take the processor and its caches, and nothing is attached
in less time than something. Without that pause nginx seemed to lose 1.9 % less than nothing.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attached import Attached
from estimates import Estimate, Floats, alternate, mean, ratio
from hooks import (
    BARE,
    BYSTANDER,
    CONTENTS,
    EMPTY,
    OURS,
    STATES,
    TALLY,
    Hooks,
    are_others_attached,
    await_no_others,
    kernel_account,
    run_times,
)
from running import build
from web_server import CLIENTS, WebServer, unpack

CALLS = {"datagrams": 2, "stream": 2, "server": 2, "requests": 4}
"""Socket calls of one operation of socket_load.c."""


class Load:
    """A program that works for a round at each line (socket_load.c), on a core of its own.

    Args:
        command: the program and its arguments.
        core: core that it runs on.
    """

    def __init__(self, command: Sequence[str], core: int) -> None:
        self._process = subprocess.Popen(
            ["taskset", "-c", str(core), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.pid = self._process.pid
        self.round()

    def round(self) -> tuple[float, float]:
        """Run one round; return nanoseconds per operation, of CPU time and of wall time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        result = json.loads(self._process.stdout.readline())
        return 1e9 * result["cpu_s"] / result["done"], 1e9 * result["wall_s"] / result["done"]

    def settle(self) -> None:
        """Run until the effects of the state change have passed."""
        self.round()

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.communicate()


class Window:
    """Rounds of a server under load, which last until its worker has had so much CPU time."""

    def __init__(self, server: WebServer, seconds: float) -> None:
        self._server = server
        self._cpu_ns = seconds * 1e9

    def round(self) -> tuple[float, float]:
        """Nanoseconds per request, of CPU and on the wall."""
        server = self._server
        served, cpu, wall = server.served(), server.cpu_ns(), time.monotonic_ns()
        self._await_cpu(self._cpu_ns)
        requests = server.served() - served
        return (server.cpu_ns() - cpu) / requests, (time.monotonic_ns() - wall) / requests

    def settle(self) -> None:
        """Run until the effects of the state change have passed."""
        self._await_cpu(self._cpu_ns / 4)

    def _await_cpu(self, enough_ns: float) -> None:
        began = self._server.cpu_ns()
        while (spent := self._server.cpu_ns() - began) < enough_ns:
            time.sleep(max(0.001, (enough_ns - spent) / 2e9))


class Comparison:
    """Cost of a load per operation in every state.

    Args:
        found: by state, float64[2, blocks]: ns per operation, of CPU and on the wall.
    """

    def __init__(self, found: dict[str, Floats]) -> None:
        self._cpu = {state: rows[0] for state, rows in found.items()}
        self._wall = {state: rows[1] for state, rows in found.items()}

    def more_ns(self, state: str, calls: int) -> Estimate:
        """CPU nanoseconds more per call than with nothing attached."""
        return mean((self._cpu[state] - self._cpu[BARE]) / calls)

    def ratio_to_empty(self) -> Estimate:
        """Ratio of the cost of our programs to that of empty ones."""
        bare = self._cpu[BARE]
        return ratio(self._cpu[OURS] - bare, self._cpu[EMPTY] - bare)

    def lost_percent(self, state: str) -> Estimate:
        """Operations that a second of CPU time has less than with nothing attached."""
        return mean(100 * (1 - self._cpu[BARE] / self._cpu[state]))

    def described(self) -> dict[str, Any]:
        """Figures of STATES."""
        figures: dict[str, Any] = {
            "operation_us": round(statistics.median(self._cpu[BARE]) / 1000, 3),
            "busy_percent": round(
                100 * statistics.median(self._cpu[BARE] / self._wall[BARE]),
            ),
        }
        for state in (OURS, EMPTY):
            percent, interval = self.lost_percent(state).rounded(2)
            figures[state] = {"overhead_percent": percent, "interval": interval}
            lost = mean(100 * (1 - self._wall[BARE] / self._wall[state]))
            percent, interval = lost.rounded(2)
            figures[state] |= {"throughput_percent": percent, "throughput_interval": interval}
        return figures


def compare(
    hooks: Hooks, states: tuple[str, ...], blocks: int, pid: int, load: Load | Window
) -> Comparison:
    """Measure a load in all states."""

    def measure(state: str) -> tuple[float, ...]:
        while True:
            if not hooks.beside_others:
                await_no_others()
            with hooks.state(state, pid):
                load.settle()
                figures = load.round()
            if hooks.beside_others or not are_others_attached():
                return figures

    return Comparison(alternate(states, blocks, measure, seed=blocks))


def time_programs(hooks: Hooks, load: Load) -> dict[str, float]:
    """Nanoseconds of a run of each program, by the kernel's account."""
    programs = {EMPTY: ("empty_send", "empty_receive"), OURS: ("count_send", "count_receive")}
    figures = {}
    with kernel_account():
        for state, names in programs.items():
            before = run_times(names)
            for _ in range(10):
                with hooks.state(state, load.pid):
                    load.round()
            after = run_times(names)
            for name in names:
                ns, runs = (after[name][i] - before[name][i] for i in (0, 1))
                figures[name] = round(ns / runs, 1)
    return figures


def calls_a_request(hooks: Hooks, server: WebServer, window: Window) -> float:
    """Socket calls that nginx makes for a request, those that fail too."""
    with hooks.state(TALLY, server.worker):
        served, calls = server.served(), hooks.tallied(server.worker)
        window.round()
        served, calls = server.served() - served, hooks.tallied(server.worker) - calls
    return round(calls / served, 2)


def measure_calls(hooks: Hooks, executable: Path, blocks: int, core: int) -> dict[str, Any]:
    """The ratio, what calls cost, the kernel's account, and the other loads."""
    figures: dict[str, Any] = {}
    cases: dict[str, Any] = {}
    for mode, calls in CALLS.items():
        load = Load([str(executable), mode, "0.03"], core)
        smallest = mode == "datagrams"
        states = (*STATES, *CONTENTS, BYSTANDER) if smallest else (*STATES, BYSTANDER)
        try:
            found = compare(hooks, states, blocks if smallest else blocks // 4, load.pid, load)
            if smallest:
                value, interval = found.ratio_to_empty().rounded(3)
                figures |= {"ratio_to_empty": value, "ratio_interval": interval}
                figures["calls"] = {
                    state: dict(
                        zip(("ns", "interval"), found.more_ns(state, calls).rounded(1), strict=True)
                    )
                    for state in states[1:]
                }
                figures["kernel_ns"] = time_programs(hooks, load)
        finally:
            load.close()
        percent, interval = found.lost_percent(BYSTANDER).rounded(2)
        cases[mode] = found.described() | {
            BYSTANDER: {"overhead_percent": percent, "interval": interval}
        }
    return figures | {"cases": cases}


def measure_servers(
    hooks: Hooks, clients: Sequence[str], blocks: int, cores: tuple[int, int]
) -> dict[str, Any]:
    """nginx under each of these clients, of which the first decides."""
    unpack()
    figures = {}
    for client in clients:
        with WebServer(cores[0]) as server:
            load = server.load(client, cores[1], 3600)
            window = Window(server, 0.2)
            try:
                window.round()
                each = calls_a_request(hooks, server, window)
                found = compare(
                    hooks,
                    STATES,
                    blocks if client == clients[0] else blocks // 2,
                    server.worker,
                    window,
                )
            finally:
                load.kill()
                load.wait()
        figures[client] = found.described() | {"calls_a_request": each}
        sys.stderr.write(f"{client}: {json.dumps(figures[client])}\n")
    first = figures[clients[0]][OURS]
    return {
        "server_overhead_percent": first["overhead_percent"],
        "server_interval": first["interval"],
        "servers": figures,
    }


def expect(figures: dict[str, Any]) -> None:
    """Add what servers are expected to lose, by their calls and what a call of datagrams costs."""
    for server in figures["servers"].values():
        server["expected_percent"] = {
            state: round(
                server["calls_a_request"]
                * figures["calls"][state]["ns"]
                / server["operation_us"]
                / 10,
                2,
            )
            for state in (OURS, EMPTY)
        }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What counting network bytes costs.")
    parser.add_argument("--blocks", type=int, default=100, help="how often each state is met")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="measure while other collectors run, whose programs are at work in all states then",
    )
    parser.add_argument("--part", choices=("all", "calls", "servers"), default="all")
    parser.add_argument(
        "--client", action="append", choices=CLIENTS, help="of the server; may be repeated"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    clients = arguments.client or CLIENTS
    attached = Attached("ebpf")
    if attached.sources.network.kind != "ebpf":
        raise SystemExit(f"no eBPF here: {attached.sources.network.description}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # Leaves no server behind.
    *_, other, core = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        hooks = Hooks(Path(folder), attached, beside_others=arguments.beside_others)
        executable = build("socket_load", Path(folder))
        figures: dict[str, Any] = {}
        if arguments.part != "servers":
            figures |= measure_calls(hooks, executable, arguments.blocks, core)
        if arguments.part != "calls":
            figures |= measure_servers(hooks, clients, arguments.blocks, (core, other))
        hooks.close()
    if arguments.part == "all":
        expect(figures)
    figures |= {"blocks": arguments.blocks}
    figures |= {"beside_others": arguments.beside_others}
    figures |= {"unix_s": round(time.time()), "release": os.uname().release}
    attached.close()
    if arguments.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return 0
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
