"""The control loop of one target, with a knob and a signal that do what the test says."""

import queue
import threading
from collections.abc import Callable, Iterator

import pytest
from tidscope_collector.steering.loop import control_loop
from tidscope_collector.steering.loop.control_loop import ControlLoop
from tidscope_collector.steering.loop.events import Event
from tidscope_collector.steering.loop.knob import KnobDescription, KnobLostError
from tidscope_collector.steering.loop.loop_inputs import Contender, ControlSetup, LoopSettings
from tidscope_collector.steering.loop.peers import Contention, PeerRegistry
from tidscope_collector.steering.loop.signals import Count
from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds, Decision, Observation
from tidscope_policies.proving.evidence import Interval
from tidscope_policies.registry import POLICIES, ReadyPolicy
from tidscope_wire.generated.models import (
    SearchRestarted,
    SignalKind,
    Steering,
    SteeringDecided,
    SteeringProblem,
    SteeringReleased,
    SteeringStarted,
)

PATIENCE_S = 120.0
ORIGINAL = 4


class Program:
    """Knob and signal at once.

    Args:
        late: a size comes into effect when work is counted next.
    """

    kind: SignalKind = "agent-ops"

    def __init__(self, *, late: bool) -> None:
        self.size = self._wanted = ORIGINAL
        self._late = late
        self.applied: list[int] = []
        self.kept = threading.Semaphore(0)
        self.lost = False
        self.trouble = ""
        self.closed = 0
        self._ops = 0
        self._at_s = 0.0

    def describe(self) -> KnobDescription:
        return KnobDescription("go-agent", 1, 8, ORIGINAL)

    def apply(self, size: int) -> int:
        self.applied.append(size)
        self._wanted = size
        if not self._late:
            self.size = size
        return self.size

    def read_size(self) -> int:
        if self.lost:
            raise KnobLostError("It does not answer.")
        return self.size

    def renew(self) -> None:
        self.kept.release()

    def restore(self) -> str:
        self.size = self._wanted = ORIGINAL
        return self.trouble

    def close(self) -> str:
        self.closed += 1
        return self.restore()

    def count(self) -> Count:
        self.size = self._wanted
        self._ops += 10
        self._at_s += 0.25
        return Count(self._at_s, self._ops)


class Knob:
    """The knob of a program."""

    def __init__(self, program: Program) -> None:
        self.describe, self.apply, self.read = program.describe, program.apply, program.read_size
        self.renew, self.restore, self.close = program.renew, program.restore, program.close


class Signal:
    """The signal of a program."""

    kind: SignalKind = "agent-ops"

    def __init__(self, program: Program) -> None:
        self.read = program.count

    def close(self) -> None:
        pass


class Script:
    """A policy that the test writes."""

    def __init__(self, decide: Callable[[Observation], Decision]) -> None:
        self._decide = decide
        self.restarts: list[str] = []

    def observe(self, seen: Observation) -> Decision:
        return self._decide(seen)

    def restart(self, reason: str) -> None:
        self.restarts.append(reason)


def stay(seen: Observation) -> Decision:
    return Decision(seen.size, "settled", "It is well as it is.")


class Flight:
    """A loop at work, and what it reported."""

    def __init__(
        self,
        decide: Callable[[Observation], Decision] = stay,
        *,
        shadow: bool = False,
        peers: PeerRegistry | None = None,
        interval_s: float = 0.02,
        claim: Claim | None = None,
        late: bool = False,
    ) -> None:
        self.program = Program(late=late)
        self.policy = Script(decide)
        self.reported: queue.SimpleQueue[tuple[Steering | None, Event]] = queue.SimpleQueue()
        self.gone = False
        self.opening = threading.Event()
        self.opening.set()
        self.waits = threading.Semaphore(0)
        bounds = Bounds(2, 6)
        contender = None if claim is None else Contender("prog (1)", claim, bounds, 8)
        settings = LoopSettings(
            "t-1", 0, "script", {}, shadow, bounds, "somebody", contender=contender
        )
        self.loop = ControlLoop(
            settings,
            ReadyPolicy(self.policy, interval_s),
            self.setup,
            self.setup(),
            peers or PeerRegistry(),
            lambda steering, event: self.reported.put((steering, event)),
            is_gone=lambda: self.gone,
        )
        self.loop.start()

    def setup(self) -> ControlSetup:
        if self.program.lost:
            self.waits.release()
            self.opening.wait(PATIENCE_S)
        self.program.read_size()
        return ControlSetup(Knob(self.program), Signal(self.program), keeps="GOMAXPROCS={size}")

    def until(self, kind: type[Event]) -> tuple[Steering | None, Event]:
        while True:
            reported = self.reported.get(timeout=PATIENCE_S)
            if isinstance(reported[1], kind):
                return reported


Fly = Callable[[Flight], Flight]


@pytest.fixture
def fly() -> Iterator[Fly]:
    """Sees that a flight has ended at the end of its test."""
    flights: list[Flight] = []

    def keep(flight: Flight) -> Flight:
        flights.append(flight)
        return flight

    yield keep
    for flight in flights:
        flight.loop.release("the test")


def test_it_tells_what_it_does_and_gives_the_size_back(fly: Fly) -> None:
    flight = fly(
        Flight(lambda seen: Decision(seen.size - 1 or 1, "searching", "Less may be more."))
    )
    now, began = flight.until(SteeringStarted)
    assert isinstance(began, SteeringStarted)
    assert (began.size, began.lower, began.upper, began.actor) == (4, 2, 6, "somebody")
    assert now is not None
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert (decided.size, decided.next_size, decided.counted) == (4, 3, True)
    assert (decided.state, decided.reason) == ("searching", "Less may be more.")
    assert decided.ops == 10 * round(decided.elapsed_s / 0.25)
    flight.loop.release("the test")
    now, released = flight.until(SteeringReleased)
    assert isinstance(released, SteeringReleased)
    assert (now, released.size, released.actor) == (None, ORIGINAL, "the test")
    assert flight.program.size == ORIGINAL
    assert flight.program.closed == 1


@pytest.mark.parametrize(("wanted", "set_"), [(99, 6), (0, 2)])
def test_bounds_cannot_be_left_whatever_the_policy_says(fly: Fly, wanted: int, set_: int) -> None:
    flight = fly(Flight(lambda seen: Decision(wanted, "wild", "Just so.")))
    flight.until(SteeringDecided)
    assert flight.program.applied == [set_]


def test_work_is_counted_while_a_size_settles(fly: Fly, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes long to follow is not taken for one that makes no progress."""
    monkeypatch.setattr(control_loop, "SETTLE_S", PATIENCE_S)
    flight = fly(Flight(lambda _: Decision(2, "settled", "Two."), late=True))
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert (decided.size, decided.next_size) == (ORIGINAL, 2)


def test_a_knob_is_kept_though_intervals_are_shorter_than_a_lease(fly: Fly) -> None:
    flight = fly(Flight(interval_s=0.3))
    for _ in range(2):
        assert flight.program.kept.acquire(timeout=PATIENCE_S)


def test_in_shadow_mode_nothing_is_turned(fly: Fly) -> None:
    flight = fly(Flight(lambda seen: Decision(2, "searching", "Two.", proposed=2), shadow=True))
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert (decided.proposed, decided.next_size) == (2, ORIGINAL)
    assert flight.program.applied == []


def test_loop_without_the_token_waits_its_turn(fly: Fly) -> None:
    peers = PeerRegistry()
    peers.join("t-other", lambda _: None)
    assert peers.request_turn("t-other", 1e12, probing=True)
    flight = fly(Flight(lambda seen: Decision(2, "searching", "Two.", probing=True), peers=peers))
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert decided.next_size == ORIGINAL
    assert "waits its turn" in decided.reason
    assert flight.program.applied == []


def test_it_says_when_the_policy_first_chose(fly: Fly) -> None:
    said = iter(
        [
            Decision(ORIGINAL, "warming up", "It warms up.", deferred=True),
            Decision(3, "exploring", "Three is tried.", probing=True),
            Decision(3, "settled", "Three is the best."),
        ]
    )
    flight = fly(Flight(lambda seen: next(said, Decision(seen.size, "settled", "It stays."))))
    found = [flight.until(SteeringDecided) for _ in range(4)]
    chosen = [now and now.chosen_unix_us for now, _ in found]
    assert chosen[:2] == [None, None]
    assert chosen[2] is not None
    assert chosen[3] == chosen[2]
    events = [event for _, event in found if isinstance(event, SteeringDecided)]
    assert [one.deferred for one in events] == [True, False, False, False]


def test_a_restart_reaches_the_policy_and_is_reported(fly: Fly) -> None:
    flight = fly(Flight())
    flight.until(SteeringDecided)
    flight.loop.restart("requested", "the page")
    _, restarted = flight.until(SearchRestarted)
    assert isinstance(restarted, SearchRestarted)
    assert (restarted.reason, restarted.actor) == ("requested", "the page")
    assert flight.policy.restarts == ["requested"]


def test_what_is_lost_is_reported_and_got_back(fly: Fly) -> None:
    flight = fly(Flight())
    flight.until(SteeringDecided)
    flight.program.lost = True
    now, troubled = flight.until(SteeringProblem)
    assert isinstance(troubled, SteeringProblem)
    assert troubled.problem == "It does not answer."
    assert now is not None
    assert now.problem == troubled.problem
    flight.program.lost = False
    _, troubled = flight.until(SteeringProblem)
    assert isinstance(troubled, SteeringProblem)
    assert troubled.problem is None
    flight.until(SteeringDecided)


def test_what_came_back_with_its_own_size_is_not_measured_at_that_of_the_policy(fly: Fly) -> None:
    def two(_: Observation) -> Decision:
        return Decision(2, "settled", "Two.")

    flight = fly(Flight(two))
    flight.until(SteeringDecided)
    flight.program.lost = True
    flight.until(SteeringProblem)
    flight.program.lost = False
    flight.until(SteeringProblem)
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert (decided.size, decided.next_size, decided.counted) == (ORIGINAL, 2, False)
    _, decided = flight.until(SteeringDecided)
    assert isinstance(decided, SteeringDecided)
    assert (decided.size, decided.counted) == (2, True)


def test_a_release_does_not_wait_for_what_is_lost(fly: Fly) -> None:
    flight = fly(Flight())
    flight.program.lost = True
    flight.until(SteeringProblem)
    flight.loop.release("the page")
    assert flight.until(SteeringReleased)[0] is None


def test_the_end_of_the_program_ends_it(fly: Fly) -> None:
    flight = fly(Flight())
    flight.until(SteeringDecided)
    flight.gone = True
    flight.program.lost = True
    now, released = flight.until(SteeringReleased)
    assert isinstance(released, SteeringReleased)
    assert (now, released.actor) == (None, "program exit")


def test_a_policy_that_fails_lets_go(fly: Fly) -> None:
    def fail(_: Observation) -> Decision:
        raise ZeroDivisionError

    flight = fly(Flight(fail))
    _, troubled = flight.until(SteeringProblem)
    assert isinstance(troubled, SteeringProblem)
    assert "log" in (troubled.problem or "")
    assert flight.until(SteeringReleased)[0] is None
    assert flight.program.size == ORIGINAL


def test_a_release_does_not_wait_for_what_is_opened_again(fly: Fly) -> None:
    flight = fly(Flight())
    flight.opening.clear()
    flight.program.lost = True
    flight.until(SteeringProblem)
    assert flight.waits.acquire(timeout=PATIENCE_S)
    closed = flight.program.closed
    flight.loop.release("the page")
    assert flight.until(SteeringReleased)[0] is None
    # Opened resources are closed after the failure.
    flight.program.lost = False
    flight.opening.set()
    flight.loop.join(PATIENCE_S)
    assert flight.program.closed == closed + 1
    assert flight.reported.empty()


def test_a_size_that_is_not_restored_is_reported(fly: Fly) -> None:
    flight = fly(Flight())
    flight.until(SteeringDecided)
    flight.program.trouble = "It restores the size when its lease ends."
    flight.loop.release("the page")
    _, troubled = flight.until(SteeringProblem)
    assert isinstance(troubled, SteeringProblem)
    assert troubled.problem == flight.program.trouble
    assert flight.until(SteeringReleased)[0] is None


@pytest.mark.parametrize("shadow", [False, True])
def test_a_size_that_a_search_found_comes_with_the_line_that_keeps_it(
    fly: Fly, *, shadow: bool
) -> None:
    def better(_: Observation) -> Decision:
        return Decision(6, "settled", "It is best.", gain=Interval(0.7, 0.62, 0.78))

    steering, event = fly(Flight(better, shadow=shadow)).until(SteeringDecided)
    assert isinstance(event, SteeringDecided)
    assert steering is not None
    assert steering.reason == event.reason
    assert ("to keep that without the policy: GOMAXPROCS=6." in event.reason) != shadow


def test_cores_of_another_one_arrive_at_once(fly: Fly) -> None:
    """The interval, which is long, is cut short, and the size is what the arbiter gives."""
    peers = PeerRegistry(lambda: 0.0)
    other = Contender("other (2)", Claim(share=3), Bounds(1, 8), 8)
    peers.join("other", lambda _: None, contention=Contention(other, lambda: None))
    follows = POLICIES["arbiter"].make().policy
    flight = fly(Flight(follows.observe, peers=peers, interval_s=60.0, claim=Claim(floor=1)))
    _, first = flight.until(SteeringDecided)
    assert isinstance(first, SteeringDecided)
    assert first.division is not None
    assert (first.next_size, first.division.cores, first.division.floor) == (2, 2, 1)
    peers.leave("other", "has ended")
    steering, second = flight.until(SteeringDecided)
    assert isinstance(second, SteeringDecided)
    assert steering is not None
    assert steering.division is not None
    assert steering.division == second.division
    assert (second.next_size, steering.division.total, steering.division.programs) == (6, 8, 1)
    assert steering.division.reason == (
        "other (2) has ended: its cores go to the others. It takes 4 free cores."
    )
