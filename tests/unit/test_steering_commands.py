"""Readings of steering commands, and how often they open knobs and signals."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from backend_builders import target
from fake_proc import FakeProc, children_look_at
from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.inspection.own_server import OwnedPort
from tidscope_collector.inspection.ports import listening_ports
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.steering.command_leases import SteeringLeases
from tidscope_collector.steering.commands import SteeringCommands
from tidscope_collector.steering.loop.knob import KnobDescription, KnobRefusedError
from tidscope_collector.steering.loop.loop_inputs import ControlSetup
from tidscope_collector.steering.loop.setup import SetupOpener, SteeredProcess
from tidscope_collector.steering.plan import NotSteerableError, NotSteeredError
from tidscope_collector.steering.service import (
    OPTIONS_S,
    SteeringService,
    SteeringTarget,
)
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.generated.models import (
    KnobOption,
    SignalOption,
    SteeringOptions,
    SteerRequest,
)

TCP = (
    b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    b"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 501 1\n"
)
KNOB = KnobOption(kind="go-agent", refusal="", lower=1, upper=8, size=4)
SIGNAL = SignalOption(kind="agent-ops", proxy=False, refusal="", note="")
SOCKET = SocketId("/run/tidscope/100.sock", 1, 2, 3)


@dataclass(frozen=True)
class CountingProcFs(ProcFs):
    """Remembers every path that is asked for."""

    asked: list[str] = field(default_factory=list)

    def path(self, relative: str) -> str:
        self.asked.append(relative)
        return super().path(relative)

    def link(self, relative: str) -> str:
        self.asked.append(relative)
        return super().link(relative)

    def pids(self) -> list[int]:
        self.asked.append("")
        return super().pids()


class Now:
    """An engine that does at once what is submitted, with one target."""

    def submit(self, action: Callable[[], object]) -> Future[object]:
        done: Future[object] = Future()
        done.set_result(action())
        return done

    def find(self, _: str) -> object:
        return SimpleNamespace(attach_ns=0, target=target(), seq=0)


class PortsOnly:
    """A service whose options are asked for ports and nothing else."""

    def __init__(self) -> None:
        self.ports: frozenset[int] | None = None

    def options(self, steered: SteeringTarget) -> SteeringOptions:
        self.ports = steered.process.ports()
        return SteeringOptions(knobs=[], signals=[], steering=None)

    def release(self, steered: SteeringTarget, actor: str) -> None:
        """Needs no ports."""


@pytest.fixture
def procfs(tmp_path: Path) -> CountingProcFs:
    proc = FakeProc(tmp_path)
    proc.process(100, sockets=[501], tables={"tcp": TCP})
    for pid in (70, 71, 72):
        proc.process(pid, sockets=[502], tables={"tcp": TCP})
    return CountingProcFs(tmp_path)


def commands(procfs: ProcFs, service: PortsOnly) -> SteeringCommands:
    targets = SimpleNamespace(attached=lambda _: target(), update=lambda _target: None)
    return SteeringCommands(
        cast(TargetRegistry, targets), cast(Engine, Now()), cast(SteeringService, service), procfs
    )


def test_ports_of_a_target_are_found_without_reading_other_processes(
    procfs: CountingProcFs,
) -> None:
    service = PortsOnly()
    with children_look_at(procfs.root):
        commands(procfs, service).options("t-1")
    assert service.ports == frozenset({8080})
    # A child finds them, and this is what it reads.
    assert listening_ports(procfs, [100]) == {100: [8080]}
    assert procfs.asked
    assert [path for path in procfs.asked if not path.startswith("100/")] == []


def test_release_reads_no_ports(procfs: CountingProcFs) -> None:
    commands(procfs, PortsOnly()).release("t-1", None, "somebody")
    assert procfs.asked == []


class Opener:
    """Counts how often knobs and signals are opened."""

    def __init__(self) -> None:
        self.socket: SocketId | None = SOCKET
        self.opened = {"knobs": 0, "signals": 0}
        self.ready: ControlSetup | None = None
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def agent_socket(self, _: SteeredProcess) -> SocketId | None:
        return self.socket

    def knobs(self, _: SteeredProcess) -> list[KnobOption]:
        self.opened["knobs"] += 1
        return [KNOB]

    def signals(self, _: SteeredProcess) -> list[SignalOption]:
        self.opened["signals"] += 1
        return [SIGNAL]

    def open(self, *_: object, waits: bool) -> ControlSetup:
        self.begun.set()
        assert self.go_on.wait(120)
        if self.ready is None:
            raise KnobRefusedError("There is none.")
        return self.ready


class Steered:
    """A service with one target, its opener and its clock."""

    def __init__(self, folder: Path) -> None:
        self.opener = Opener()
        self.now = 100.0
        self.ports = frozenset({80})
        opener = cast(SetupOpener, self.opener)
        self.service = SteeringService(ProcFs(folder), opener, lambda: self.now)
        process = SteeredProcess(
            100,
            1,
            frozenset(),
            lambda: self.ports,
            lambda port: OwnedPort(100, 1, port),
            lambda _: None,
        )
        self.target = SteeringTarget("t-1", 0, process, lambda _, __: None)

    def opened(self) -> int:
        """Ask for the options; how often everything has been opened since the beginning."""
        options = self.service.options(self.target)
        assert (options.knobs, options.signals) == ([KNOB], [SIGNAL])
        assert self.opener.opened["knobs"] == self.opener.opened["signals"]
        return self.opener.opened["knobs"]


@pytest.fixture
def steered(tmp_path: Path) -> Steered:
    return Steered(tmp_path)


def test_options_open_knobs_and_signals_once(steered: Steered) -> None:
    assert [steered.opened() for _ in range(5)] == [1] * 5


def test_options_are_opened_again_when_the_agents_socket_changes(steered: Steered) -> None:
    steered.opened()
    steered.opener.socket = None
    assert steered.opened() == 2
    steered.opener.socket = SOCKET._replace(inode=9)
    assert [steered.opened(), steered.opened()] == [3, 3]


def test_options_are_opened_again_when_ports_change(steered: Steered) -> None:
    steered.opened()
    steered.ports = frozenset({80, 81})
    assert [steered.opened(), steered.opened()] == [2, 2]


def test_options_are_opened_again_after_an_action(steered: Steered) -> None:
    steered.opened()
    with pytest.raises(NotSteerableError):
        steered.service.steer(steered.target, SteerRequest(policy="fixed"), "somebody")
    assert [steered.opened(), steered.opened()] == [2, 2]


def test_options_are_opened_again_for_a_target_that_ended(steered: Steered) -> None:
    steered.opened()
    steered.service.ended("t-1")
    assert steered.opened() == 2


def test_options_go_out_of_date(steered: Steered) -> None:
    steered.opened()
    steered.now += OPTIONS_S + 1
    assert steered.opened() == 2


def test_a_release_while_knob_and_signal_are_opened_wins(steered: Steered) -> None:
    knob, signal = Mock(), Mock(kind="network-calls")
    knob.describe.return_value = KnobDescription("pool-agent", 1, 8, 2)
    knob.read.return_value = 2
    opener = steered.opener
    opener.ready = ControlSetup(knob, signal)
    opener.go_on.clear()
    with ThreadPoolExecutor() as threads:
        pressed = threads.submit(
            steered.service.steer, steered.target, SteerRequest(policy="fixed"), "somebody"
        )
        assert opener.begun.wait(120)
        steered.service.release("t-1", "somebody else")
        opener.go_on.set()
        with pytest.raises(NotSteerableError, match="was released"):
            pressed.result(120)
    knob.close.assert_called_once_with()
    with pytest.raises(NotSteeredError):
        steered.service.release("t-1", "somebody else")


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
    for timer in lapsed.timers():
        timer.join(60)
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
