"""Whatever threads do, the living and the ended add up to what the kernel counted."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from receiver import Receiver
from tidscope_collector.sampling.exit_cpu import with_tick_time
from tidscope_collector.sampling.presence import Presence
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import RoleTotals

FIELDS = ("cpu_run_ns", "write_char_bytes")
ATTACH = 5_000_000_000
MAIN = 10
IDS = range(11, 17)
STEP = 1_000_000


@dataclass
class Life:
    """A thread of the kernel.

    Attributes:
        counters: what it has now.
        shown: what the tracker was shown last; None if it was never read.
        exiting: a zombie.
        recorded: its exit record was drained.
    """

    start_ns: int
    name: str
    counters: list[int] = field(default_factory=lambda: [0, 0])
    shown: list[int] | None = None
    exiting: bool = False
    recorded: bool = False

    @property
    def counted(self) -> list[int]:
        """What the sums can know of it."""
        return self.counters if self.recorded else self.shown or [0, 0]


class Process(RuleBasedStateMachine):
    """A process, its kernel, the tracker, and a receiver of what the tracker says.

    Attributes:
        loses: whether exit records may be lost; then no thread executes a program, since the
            tracker cannot always tell the two apart.
    """

    loses = False

    def __init__(self) -> None:
        super().__init__()
        self.now = ATTACH
        self.threads = {MAIN: Life(ATTACH - STEP, "main", [7, 0])}
        self.dead: list[Life] = []
        self.queue: list[tuple[int, Life, int]] = []
        self.barred: dict[int, int] = {}
        self.samples = 0
        self.tracker = Tracker(FIELDS, ATTACH, MAIN)
        self.receiver = Receiver()
        self.reported = [0, 0]
        self.roles: dict[str | None, RoleTotals] = {}

    def tick(self) -> int:
        self.now += STEP
        return self.now

    def living(self) -> list[int]:
        return [tid for tid, life in self.threads.items() if not life.exiting]

    @rule(tid=st.sampled_from(IDS), name=st.sampled_from(["a", "b"]))
    def spawn(self, tid: int, name: str) -> None:
        if tid not in self.threads and self.barred.get(tid, 0) <= self.samples:
            self.threads[tid] = Life(self.tick(), name)

    @rule(
        data=st.data(), cpu=st.integers(0, 3), written=st.integers(0, 2), name=st.sampled_from("ab")
    )
    def run(self, data: st.DataObject, cpu: int, written: int, name: str) -> None:
        living = self.living()
        if living:
            life = self.threads[data.draw(st.sampled_from(living))]
            life.counters = [life.counters[0] + cpu, life.counters[1] + written]
            life.name = name

    @rule(data=st.data(), lost=st.booleans())
    def exit(self, data: st.DataObject, lost: bool) -> None:
        living = self.living()
        if len(living) > 1:
            self.end(data.draw(st.sampled_from(living)), lost=lost and self.loses)

    def end(self, tid: int, *, lost: bool) -> None:
        life = self.threads[tid]
        life.exiting = True
        if lost:
            # Which of two threads such an id stood for, nobody can tell if it is used at once.
            self.barred[tid] = self.samples + 3
        else:
            self.queue.append((tid, life, self.tick()))
        if tid != MAIN:
            self.dead.append(self.threads.pop(tid))

    @precondition(lambda self: not self.loses)
    @rule(data=st.data())
    def execute(self, data: st.DataObject) -> None:
        """One thread executes a program: the others end, and it gets the main thread's id."""
        living = self.living()
        chosen = data.draw(st.sampled_from(living))
        for tid in living:
            if tid != chosen:
                self.end(tid, lost=False)
        if chosen != MAIN:
            main, life = self.threads[MAIN], self.threads.pop(chosen)
            self.dead.append(main)
            # No record tells that its old id is free: used at once, it is the same thread's.
            self.barred[chosen] = self.samples + 3
            life.start_ns, life.name = main.start_ns, "program"
            self.threads[MAIN] = life

    @rule(
        skip=st.sets(st.sampled_from(IDS)),
        unread=st.sets(st.sampled_from(IDS)),
        dying=st.sets(st.sampled_from(IDS), max_size=2),
        late=st.sets(st.sampled_from(IDS), max_size=1),
        jitter=st.integers(0, 1000),
    )
    def sample(
        self, skip: set[int], unread: set[int], dying: set[int], late: set[int], jitter: int
    ) -> None:
        """Take a sample.

        Args:
            skip: threads that the listing does not show.
            unread: threads whose answer is lost.
            dying: threads that end between the reading and the drain.
            late: skipped threads that end behind the drain.
            jitter: nanoseconds by which starts are too early.
        """
        self.samples += 1
        listed = [tid for tid in self.threads if tid not in skip]
        read = [tid for tid in listed if tid not in unread]
        reading = self.reading([(tid, self.threads[tid]) for tid in read], -jitter)
        for tid in dying & self.threads.keys():
            if len(self.living()) > 1:
                self.end(tid, lost=False)
        drained, self.queue = self.queue, []
        records = {tid for tid, _, _ in drained}
        for tid, life in [*self.threads.items(), *((tid, life) for tid, life, _ in drained)]:
            if tid in read and tid not in records:
                life.shown = list(life.counters)
        before = self.tick()
        exits = self.reading([(tid, life) for tid, life, _ in drained])
        for row, (_, life, ended) in enumerate(drained):
            exits.start_ns[row] = life.start_ns + before - ended
            life.recorded = True
        if len(self.living()) > 1:
            for tid in late & skip & set(self.living()):
                self.end(tid, lost=False)
        events, rows = self.tracker.update(
            reading,
            before,
            exits if drained else None,
            listed=np.array(listed, np.uint32),
            look=self.look,
        )
        known = {tid: dict(counters) for tid, counters in self.receiver.live.items()}
        self.receiver.take(events, rows, self.tracker.exited())
        born = {event.tid for event in events if event.type == "thread_born"}
        assert set(rows.tid.tolist()) == born | {
            tid for tid, counters in self.receiver.live.items() if counters != known.get(tid)
        }
        self.compare()

    def look(self, tid: int) -> Presence:
        life = self.threads.get(tid)
        if life is None:
            return Presence.GONE
        return Presence.EXITING if life.exiting else Presence.ALIVE

    @staticmethod
    def reading(rows: list[tuple[int, Life]], late_ns: int = 0) -> Reading:
        return Reading(
            np.array([tid for tid, _ in rows], np.uint32),
            np.array([life.counters for _, life in rows], np.uint64).reshape(-1, len(FIELDS)),
            None,
            np.array([life.start_ns + late_ns for _, life in rows], np.int64),
            np.array([life.name.encode() for _, life in rows], "S16"),
        )

    def compare(self) -> None:
        lives = [*self.threads.values(), *self.dead]
        for column, name in enumerate(FIELDS):
            total = self.receiver.total(name)
            assert total == sum(life.counted[column] for life in lives)
            assert total >= self.reported[column], "the process' total fell"
            self.reported[column] = total
        self.compare_roles()

    def compare_roles(self) -> None:
        """Roles add up to the process, and nothing of one ever falls or goes."""
        roles = {reported.role: reported for reported in self.tracker.roles(0)}
        for name in FIELDS:
            total = sum(reported.totals.get(name, 0) for reported in roles.values())
            assert total == self.receiver.total(name)
        for role, before in self.roles.items():
            assert roles[role].exited >= before.exited
            for name, value in before.totals.items():
                assert roles[role].totals[name] >= value, f"{name} of {role} fell"
        assert sum(reported.live for reported in roles.values()) == len(self.receiver.live)
        assert sum(reported.exited for reported in roles.values()) == self.tracker.exited().threads
        self.roles = roles

    @rule()
    def open_a_page(self) -> None:
        """A key frame alone gives a reader the same state as everything before it."""
        page = Receiver()
        page.take([], self.tracker.all_rows(), self.tracker.exited())
        assert page.live == self.receiver.live
        assert page.names == self.receiver.names

    def teardown(self) -> None:
        for tid in [*self.living()]:
            self.end(tid, lost=False)
        records = self.reading([(tid, life) for tid, life, _ in self.queue])
        for _, life, _ in self.queue:
            life.recorded = True
        events = self.tracker.finish(records, exited=True)
        none = Rows(np.empty(0, np.uint32), {}, {})
        self.receiver.take(events, none, self.tracker.exited())
        assert self.receiver.live == {}
        self.compare()
        reported = self.tracker.exited()
        assert reported.threads == len(self.receiver.exits)
        if not self.loses:
            assert reported.inexact == 0


class LossyProcess(Process):
    """One whose exit records may be lost."""

    loses = True


TestProcess = Process.TestCase
TestLossyProcess = LossyProcess.TestCase
TestProcess.settings = TestLossyProcess.settings = settings(
    max_examples=80, stateful_step_count=30, deadline=None
)


# CPU time of exit records without ledgers: the larger of time on a CPU and time in ticks.


PLAIN = ("cpu_run_ns", "user_cpu_us", "system_cpu_us")
LEDGER = (*PLAIN, "state_on_cpu_ns")


def records(fields: tuple[str, ...], *rows: tuple[int, ...]) -> Reading:
    """Of threads, values in the order of the fields."""
    counters = np.array(rows, np.uint64).reshape(len(rows), len(fields))
    tids = np.arange(len(rows), dtype=np.uint32)
    starts = np.zeros(len(rows), np.int64)
    return Reading(tids, counters, None, starts, np.full(len(rows), b"t", "S16"))


def test_the_larger_of_both_is_given_and_marked() -> None:
    record = records(PLAIN, (0, 4000, 4000), (9_000_000, 4000, 4000), (50, 0, 0))
    made = with_tick_time(record, PLAIN)
    assert made.counters[:, 0].tolist() == [8_000_000, 9_000_000, 50]
    assert made.invalid is not None
    assert made.invalid.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert record.counters[0, 0] == 0


def test_a_thread_with_a_ledger_keeps_what_it_has() -> None:
    record = records(LEDGER, (100, 4000, 0, 100), (100, 4000, 0, 0))
    assert with_tick_time(record, LEDGER) is record
    absent = np.zeros((2, 4), np.bool_)
    absent[1, 3] = True
    lacking = Reading(
        record.tid, record.counters, absent, record.start_ns, record.name, invalid=None
    )
    assert with_tick_time(lacking, LEDGER).counters[:, 0].tolist() == [100, 4_000_000]


def test_without_ticks_there_is_nothing_to_compare() -> None:
    record = records(("cpu_run_ns",), (5,))
    assert with_tick_time(record, ("cpu_run_ns",)) is record
