"""Another policy instead of one that steers: it takes over as a whole, or nothing changes."""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from fake_proc import FakeProc
from tidscope_collector.inspection.own_server import OwnedPort
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.events import Event
from tidscope_collector.steering.loop.knob import KnobDescription, KnobKind, KnobRefusedError
from tidscope_collector.steering.loop.loop_inputs import ControlSetup
from tidscope_collector.steering.loop.setup import SetupOpener, SteeredProcess
from tidscope_collector.steering.loop.signals import Count
from tidscope_collector.steering.plan import (
    BadParameterError,
    NotSteerableError,
    NotSteeredError,
)
from tidscope_collector.steering.service import SteeringService, SteeringTarget
from tidscope_wire.generated.models import (
    SignalKind,
    Steering,
    SteeringDecided,
    SteeringProblem,
    SteeringReleased,
    SteeringStarted,
    SteerRequest,
)

PATIENCE_S = 120.0
ORIGINAL = 8
FAST = {"interval_s": 0.5}


class Pool:
    """Sizes that knobs set."""

    def __init__(self) -> None:
        self.size = ORIGINAL


class PoolKnob:
    """A knob of a pool, of any kind."""

    def __init__(self, pool: Pool, kind: KnobKind) -> None:
        self.pool, self.kind = pool, kind
        self.closed = 0

    def describe(self) -> KnobDescription:
        return KnobDescription(self.kind, 1, ORIGINAL, ORIGINAL)

    def apply(self, size: int) -> int:
        self.pool.size = size
        return size

    def read(self) -> int:
        return self.pool.size

    def renew(self) -> None:
        """A lease without expiry."""

    def restore(self) -> str:
        self.pool.size = ORIGINAL
        return ""

    def close(self) -> str:
        self.closed += 1
        return self.restore()


class Work:
    """A signal that grows with each reading."""

    def __init__(self, kind: SignalKind = "agent-ops") -> None:
        self.kind: SignalKind = kind
        self.count = 0
        self.closed = 0

    def read(self) -> Count:
        self.count += 1
        return Count(self.count * 0.25, self.count * 10.0)

    def close(self) -> None:
        self.closed += 1


class Opener:
    """Opens what the test lays out."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.opened: list[ControlSetup] = []
        self.exchanged: list[ControlSetup] = []
        self.refusal = ""
        self.kind: KnobKind = "go-affinity"
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def open(self, *_: object, waits: bool) -> ControlSetup:
        if self.refusal:
            raise KnobRefusedError(self.refusal)
        setup = ControlSetup(PoolKnob(self.pool, self.kind), Work())
        self.opened.append(setup)
        return setup

    def exchange(
        self, _: SteeredProcess, held: ControlSetup, *rest: object, waits: bool
    ) -> ControlSetup:
        self.begun.set()
        assert self.go_on.wait(PATIENCE_S)
        if self.refusal:
            raise KnobRefusedError(self.refusal)
        setup = held
        if self.kind != held.knob.describe().kind:
            setup = self.open(waits=waits)
        elif waits:
            setup = held.measured_by(Work("queue-wait"))
        self.exchanged.append(setup)
        return setup


class Host:
    """A service with one steered target."""

    def __init__(self, folder: Path) -> None:
        FakeProc(folder).process(100)
        procfs = ProcFs(folder)
        self.opener = Opener()
        self.service = SteeringService(procfs, cast(SetupOpener, self.opener))
        self.events: queue.SimpleQueue[tuple[Steering | None, Event]] = queue.SimpleQueue()
        process = SteeredProcess(
            100,
            1000,
            frozenset(),
            frozenset,
            lambda port: OwnedPort(100, 1, port),
            lambda _: None,
        )
        self.target = SteeringTarget(
            "t-1", 0, process, lambda now, event: self.events.put((now, event))
        )

    def steer(self, policy: str, **more: object) -> Steering:
        request = SteerRequest.model_validate({"policy": policy, "parameters": FAST, **more})
        return self.service.steer(self.target, request, "somebody")

    def until(self, *kinds: type[Event]) -> tuple[Steering | None, Event]:
        """The next event of one of these kinds; one that ends or troubles it is a failure."""
        while True:
            now, event = self.events.get(timeout=PATIENCE_S)
            if isinstance(event, kinds):
                return now, event
            assert not isinstance(event, SteeringReleased | SteeringProblem), event


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path)
    yield made
    made.service.close()


def test_a_switch_that_is_refused_keeps_what_steers(host: Host) -> None:
    host.steer("fixed", parameters=FAST | {"size": 1})
    while host.opener.pool.size != 1:
        host.until(SteeringDecided)
    host.opener.refusal = "One CPU: nothing to choose."
    with pytest.raises(NotSteerableError, match="nothing to choose"):
        host.steer("linear")
    host.opener.refusal = ""
    now, decided = host.until(SteeringDecided)
    assert now is not None
    assert (now.policy, decided.policy, host.opener.pool.size) == ("fixed", "fixed", 1)
    # The continued loop can be replaced as well.
    assert host.steer("linear").policy == "linear"


def test_a_switch_keeps_knob_size_and_original(host: Host) -> None:
    host.steer("fixed", parameters=FAST | {"size": 3})
    while host.opener.pool.size != 3:
        host.until(SteeringDecided)
    switched = host.steer("kalman-kg")
    assert (switched.size, switched.original, switched.upper) == (3, ORIGINAL, ORIGINAL)
    # The first policy's own event waits here if its size came before this thread looked.
    while host.until(SteeringStarted)[1].policy != "kalman-kg":
        pass
    (only,) = host.opener.opened
    assert cast(PoolKnob, only.knob).closed == 0
    host.service.release("t-1", "somebody")
    assert host.opener.pool.size == ORIGINAL
    assert host.until(SteeringReleased)[0] is None


def test_a_switch_to_another_signal_closes_only_the_old_one(host: Host) -> None:
    host.steer("kalman-kg")
    switched = host.steer("ait")
    assert switched.signal == "queue-wait"
    (only,) = host.opener.opened
    assert (cast(PoolKnob, only.knob).closed, cast(Work, only.signal).closed) == (0, 1)


def test_a_switch_to_another_knob_restores_through_the_old_one(host: Host) -> None:
    host.steer("fixed", parameters=FAST | {"size": 2})
    while host.opener.pool.size != 2:
        host.until(SteeringDecided)
    host.opener.kind = "go-agent"
    host.steer("fixed", parameters=FAST | {"size": 2})
    first, second = host.opener.opened
    assert cast(PoolKnob, first.knob).closed == 1
    assert cast(PoolKnob, second.knob).closed == 0


def test_bounds_that_do_not_fit_change_nothing(host: Host) -> None:
    host.steer("fixed")
    for wrong in ({"upper": ORIGINAL + 1}, {"lower": 5, "upper": 4}):
        with pytest.raises(BadParameterError, match="not within those of the knob"):
            host.steer("linear", **wrong)
    now, _ = host.until(SteeringDecided)
    assert now is not None
    assert now.policy == "fixed"


@pytest.mark.parametrize("size", [9, 65536])
def test_a_size_beyond_the_knob_is_refused(host: Host, size: int) -> None:
    with pytest.raises(BadParameterError, match=f"size {size} is not within the bounds 1 to 8"):
        host.steer("fixed", parameters=FAST | {"size": size})
    assert host.service.steered("t-1") == []
    assert host.opener.pool.size == ORIGINAL


def test_a_release_during_a_switch_wins(host: Host) -> None:
    host.steer("fixed", parameters=FAST | {"size": 2})
    while host.opener.pool.size != 2:
        host.until(SteeringDecided)
    host.opener.go_on.clear()
    refused: list[BaseException] = []

    def switch() -> None:
        try:
            host.steer("linear")
        except NotSteerableError as error:
            refused.append(error)

    switching = threading.Thread(target=switch)
    switching.start()
    assert host.opener.begun.wait(PATIENCE_S)
    host.service.release("t-1", "somebody else")
    assert host.opener.pool.size == ORIGINAL
    assert host.until(SteeringReleased)[0] is None
    host.opener.go_on.set()
    switching.join(PATIENCE_S)
    assert "was released" in str(refused[0])
    with pytest.raises(NotSteeredError):
        host.service.release("t-1", "somebody else")


def test_a_program_that_ends_during_a_switch_is_released(host: Host, tmp_path: Path) -> None:
    host.steer("fixed")
    prepared = host.service.prepare(host.target, SteerRequest(policy="linear"), "somebody")
    (tmp_path / "100" / "stat").unlink()
    prepared.abort()
    host.opener.pool.size = ORIGINAL
    host.service.release("t-1", "somebody")
    assert host.until(SteeringReleased)[0] is None


def test_one_that_is_prepared_and_aborted_changes_nothing(host: Host) -> None:
    host.service.prepare(host.target, SteerRequest(policy="linear"), "somebody").abort()
    assert host.service.steered("t-1") == []
    host.steer("fixed")
    host.service.prepare(host.target, SteerRequest(policy="linear"), "somebody").abort()
    now, _ = host.until(SteeringDecided)
    assert now is not None
    assert now.policy == "fixed"
