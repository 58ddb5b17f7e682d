"""Cost of wait ledgers for programs, against the least that any eBPF program can cost.

Two threads wake each other through pipes (ping_pong.c) while nothing is attached, with empty
programs on the same hooks (the physical limit), with ledgers kept of them (`target`), and with
ledgers kept of another process (`other`), in turn; see estimates.py. CPU time per switch decides.
`target_ratio` and `other_ratio` are (with ledgers - nothing) / (empty - nothing). `percent` is how
much more CPU time an exchange takes than with nothing attached: this program does nothing else than
`perf bench sched pipe --threaded` on one CPU, so no program can lose more.
`server_overhead_percent` is what nginx loses when visitors load pages and its ledger is kept.
With `--against FOLDER`, another checkout, its ledgers are a state of their own (`before`), measured
in the same turns; `before_less_ns` is what a switch costs less now.

A load runs for a round that does not count after each change of state. A round during which
somebody else's programs were on the same hooks is measured again: nothing is not nothing then.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from attached import Attached
from estimates import Floats, alternate, mean, ratio
from hooks import are_others_attached, await_no_others
from netacct import Load, Window
from running import build, build_bpf
from tidscope_collector.ebpf import libbpf
from web_server import CLIENTS, WebServer, unpack

BARE, EMPTY, TARGET, OTHER, BEFORE = "nothing", "empty", "target", "other", "before"
SCHEDULER = "sched_"
"""Prefix of the tracepoints' names."""
HOOKS = ("sched_switch", "sched_waking", "sched_wakeup_new", "sched_process_exec", "task_newtask")
SWITCHES = 2
"""In one exchange of ping_pong; as many wake-ups."""


class Keeper(Protocol):
    """Ledger keeper of processes, by their IDs."""

    def watch(self, pid: int, /) -> None: ...
    def forget(self, pid: int, /) -> None: ...


class OtherKeeper:
    """The ledgers of another checkout, kept by a process of its own; ends with `close`.

    Args:
        checkout: folder of the checkout.
    """

    _PROGRAM = """
import sys
from attached import Attached
keeper = Attached(ledger="auto")
for line in sys.stdin:
    what, pid = line.split()
    getattr(keeper, what)(int(pid))
    print(flush=True)
"""

    def __init__(self, checkout: Path) -> None:
        path = os.pathsep.join(
            str(checkout / room) for room in ("benchmarks", "collector", "sampler", "shared")
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", self._PROGRAM],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def watch(self, pid: int, /) -> None:
        self._ask("watch", pid)

    def forget(self, pid: int, /) -> None:
        self._ask("forget", pid)

    def _ask(self, what: str, pid: int) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what} {pid}\n")
        if not self._process.stdout.readline():
            raise SystemExit("the other checkout's ledgers ended")

    def close(self) -> None:
        """End it."""
        self._process.communicate()


class States:
    """States of the hooks, attached one after the other.

    Args:
        folder: build folder.
        keeper: ours.
        before: another one's, if it is measured, too.
        beside_others: whether "nothing" may mean: nothing but what others attached.
    """

    def __init__(
        self,
        folder: Path,
        keeper: Attached,
        before: Keeper | None = None,
        *,
        beside_others: bool = False,
    ) -> None:
        self.beside_others = beside_others
        self._keepers: dict[str, Keeper] = {TARGET: keeper, OTHER: keeper}
        if before is not None:
            self._keepers[BEFORE] = before
        self._empty = libbpf.Program(build_bpf("switch_programs", folder))

    @contextmanager
    def state(self, name: str, pid: int) -> Iterator[None]:
        """Bring a state about for a ``with`` statement; pid is the process that is measured."""
        if keeper := self._keepers.get(name):
            watched = os.getpid() if name == OTHER else pid
            keeper.watch(watched)
            yield
            keeper.forget(watched)
        else:
            if name == EMPTY:
                self._empty.attach(tuple(f"empty_{hook}" for hook in HOOKS))
            yield
            self._empty.detach()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all states."""
        return (BARE, EMPTY, *self._keepers)

    def close(self) -> None:
        """Take the programs out of the kernel."""
        self._empty.close()


def in_turn(
    states: States,
    names: tuple[str, ...],
    blocks: int,
    pid: int,
    load: Load | Window,
) -> dict[str, Floats]:
    """Nanoseconds of CPU and on the wall per operation, in each state: float64[2, blocks]."""

    def one(name: str) -> tuple[float, ...]:
        while True:
            if not states.beside_others:
                await_no_others(SCHEDULER)
            with states.state(name, pid):
                load.settle()
                found = load.round()
            if states.beside_others or not are_others_attached(SCHEDULER):
                return found

    return alternate(names, blocks, one, seed=blocks)


def measure_switches(states: States, executable: Path, blocks: int, core: int) -> dict[str, Any]:
    """Both ratios, and what a switch with its wake-up costs."""
    load = Load([str(executable), "0.03"], core)
    try:
        found = in_turn(states, states.names, blocks, load.pid, load)
    finally:
        load.close()
    cpu = {name: rows[0] / SWITCHES for name, rows in found.items()}
    figures: dict[str, Any] = {"switch_ns": round(mean(cpu[BARE]).value, 1)}
    for name in states.names[1:]:
        value, interval = mean(cpu[name] - cpu[BARE]).rounded(1)
        percent, of_percent = mean(100 * (cpu[name] / cpu[BARE] - 1)).rounded(1)
        figures[name] = {
            **{"ns_a_switch": value, "interval": interval},
            **{"percent": percent, "percent_interval": of_percent},
        }
    for name in states.names[2:]:
        value, interval = ratio(cpu[name] - cpu[BARE], cpu[EMPTY] - cpu[BARE]).rounded(2)
        figures |= {f"{name}_ratio": value, f"{name}_ratio_interval": interval}
    if BEFORE in cpu:
        value, interval = mean(cpu[BEFORE] - cpu[TARGET]).rounded(1)
        figures |= {"before_less_ns": value, "before_less_interval": interval}
    return figures


def measure_server(states: States, blocks: int, cores: tuple[int, int]) -> dict[str, Any]:
    """Extra CPU of nginx' worker for a request, in percent."""
    unpack()
    with WebServer(cores[0]) as server:
        load = server.load(CLIENTS[0], cores[1], 3600)
        window = Window(server, 0.2)
        try:
            window.round()
            found = in_turn(states, (BARE, EMPTY, TARGET), blocks, server.worker, window)
        finally:
            load.kill()
            load.wait()
    figures: dict[str, Any] = {}
    for name, prefix in ((TARGET, "server"), (EMPTY, "server_empty")):
        lost = mean(100 * (1 - found[BARE][0] / found[name][0]))
        value, interval = lost.rounded(2)
        figures |= {f"{prefix}_overhead_percent": value, f"{prefix}_interval": interval}
    return figures


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What keeping ledgers of waits costs.")
    parser.add_argument("--blocks", type=int, default=100, help="how often each state is met")
    parser.add_argument("--part", choices=("all", "switches", "server"), default="all")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="measure while other collectors run, whose programs are at work in all states then",
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # Leaves no server behind.
    *_, other, core = sorted(os.sched_getaffinity(0))
    keeper = Attached(ledger="auto")
    if keeper.sources.ledger.reason is not None:
        raise SystemExit(f"no ledgers here: {keeper.sources.ledger.reason}")
    before = None if arguments.against is None else OtherKeeper(arguments.against)
    with tempfile.TemporaryDirectory() as folder:
        states = States(Path(folder), keeper, before, beside_others=arguments.beside_others)
        figures: dict[str, Any] = {}
        if arguments.part != "server":
            executable = build("ping_pong", Path(folder))
            figures |= measure_switches(states, executable, arguments.blocks, core)
        if arguments.part != "switches":
            figures |= measure_server(states, arguments.blocks, (core, other))
        states.close()
    keeper.close()
    if before is not None:
        before.close()
    figures |= {"blocks": arguments.blocks, "unix_s": round(time.time())}
    figures["beside_others"] = arguments.beside_others
    figures["release"] = os.uname().release
    sys.stdout.write(json.dumps(figures, indent=None if arguments.json else 2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
