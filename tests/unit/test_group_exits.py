"""Exit records of a group beside what eBPF says of the same threads, in either order."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Literal, cast

import numpy as np
import numpy.typing as npt
import pytest
from taskstats_replies import FAMILY, LENGTHS, stats
from tidscope_collector.groups import exits
from tidscope_collector.groups.counters import GroupTaskstats
from tidscope_collector.groups.exits import GroupExits, Late
from tidscope_collector.groups.members import BELIEVED_NS, Members, Newcomer
from tidscope_collector.groups.membership import Done, Membership
from tidscope_collector.sampling.exit_status import LAST_OF_PROCESS
from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.threads.reading import Reading

FIELDS = ("blkio_delay_ns", "cpu_run_ns")
PROCESS = 40
WAITED = 3


def records(*said: tuple[int, int]) -> Reading:
    """Exit records: of each thread its id, and its time on a CPU."""
    return Reading(
        np.array([tid for tid, _ in said], np.uint32),
        np.array([[WAITED, cpu_ns] for _, cpu_ns in said], np.uint64).reshape(-1, 2),
        None,
        np.zeros(len(said), np.int64),
        np.array([b"work" for _ in said], "S16"),
        process=np.full(len(said), PROCESS, np.uint32),
    )


class Group:
    """Both sources at once.

    Attributes:
        coming: threads that eBPF tells of with the next sample.
    """

    def __init__(
        self, fields: tuple[str, ...] = FIELDS, discovery: Literal["ebpf", "polling"] = "ebpf"
    ) -> None:
        self.fields, self.discovery = fields, discovery
        self.members = Members()
        self.coming: list[Done] = []
        self._done: list[Done] = []
        self._reading = records()
        self.query = SimpleNamespace(kernel=Kernel(FAMILY, choose(16, LENGTHS[16]), 0))
        self.members = Members()
        self.decoded: list[int] = []
        self.exits = GroupExits(cast(GroupTaskstats, self), cast(Membership, self))

    def update(self) -> None:
        self._done += self.coming
        self.coming = []

    def take_done(self) -> list[Done]:
        taken, self._done = self._done, []
        return taken

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        assert len(words) == len(before)
        self.decoded = member(words, self.query.kernel.layout, "ac_pid").tolist()
        return self._reading

    def drain(self, at_s: float, *ended: tuple[int, int, float, bool]) -> list[int]:
        """Threads whose records are decoded.

        Args:
            at_s: CLOCK_MONOTONIC before the drain.
            ended: thread, process, age of the process in seconds of each record, and
                whether the thread was its last one.
        """
        raw = b"".join(
            stats(
                16,
                tid,
                tgid=pid,
                members={"ac_tgetime": int(age_s * 1e6), "ac_flag": LAST_OF_PROCESS * last},
            )
            for tid, pid, age_s, last in ended
        )
        words = np.frombuffer(raw, np.uint64).reshape(len(ended), -1)
        self.exits.decode(words, np.full(len(ended), int(at_s * 1e9), np.int64))
        return self.decoded

    def ended(self, *done: tuple[int, int]) -> None:
        """Threads ran for the last time, as eBPF tells."""
        self._done += [Done(*one) for one in done]

    def read(self, reading: Reading) -> Reading:
        """Exit records come."""
        self._reading = reading
        return self.exits.decode(np.zeros((0, 70), np.uint64), np.zeros(0, np.int64))

    def cpu(self, *said: tuple[int, int]) -> list[int]:
        """Times on a CPU of what is made of exit records."""
        found: list[int] = self.read(records(*said)).counters[:, 1].tolist()
        return found


@pytest.mark.parametrize(("said", "whole", "given"), [(5, 9, 9), (9, 5, 9)])
def test_the_larger_time_counts_if_both_are_known(said: int, whole: int, given: int) -> None:
    group = Group()
    group.ended((50, whole))
    raw = records((50, said))
    read = group.read(raw)
    assert read.counters.tolist() == [[WAITED, given]]
    assert raw.counters.tolist() == [[WAITED, said]]
    assert group.exits.take_late() == []


def test_what_the_sample_before_the_records_finds_is_known_to_them() -> None:
    group = Group()
    group.coming.append(Done(50, 9))
    assert group.cpu((50, 5)) == [9]


@pytest.mark.parametrize(("start_ns", "given", "late"), [(5_000, 90, 30), (50_000_000, 40, 80)])
def test_what_a_thread_was_seen_with_is_not_late(start_ns: int, given: int, late: int) -> None:
    """The thread ran on after the reading; another one may have its ID by then."""
    group = Group()
    seen = records((50, 90))
    group.exits.seen = replace(seen, start_ns=np.array([start_ns], np.int64))
    assert group.cpu((50, 40)) == [given]
    group.ended((50, 120))
    assert [one.cpu_ns for one in group.exits.take_late()] == [late]


def test_a_whole_time_is_of_one_thread() -> None:
    """A later thread may have the same id."""
    group = Group()
    group.ended((50, 9))
    assert group.cpu((50, 5)) == [9]
    assert group.cpu((50, 5)) == [5]


def test_what_is_known_only_after_the_record_is_late() -> None:
    group = Group()
    assert group.cpu((50, 5), (51, 7)) == [5, 7]
    assert group.exits.take_late() == []
    group.ended((51, 10))
    assert group.exits.take_late() == [Late("work", PROCESS, 3)]
    assert group.exits.take_late() == []


def test_late_times_are_kept_while_further_records_come() -> None:
    group = Group()
    group.cpu((50, 5), (51, 7))
    group.ended((50, 6))
    group.cpu((52, 1))
    group.ended((51, 9))
    assert [one.cpu_ns for one in group.exits.take_late()] == [1, 2]


@pytest.mark.parametrize("whole", [4, 5])
def test_nothing_is_late_if_the_record_said_all(whole: int) -> None:
    group = Group()
    group.cpu((50, 5))
    group.ended((50, whole))
    assert group.exits.take_late() == []
    # The record is settled: its time is not kept for a later thread of this ID.
    assert group.cpu((50, 1)) == [1]


def test_a_record_without_a_process_is_of_process_zero() -> None:
    group = Group()
    read = group.read(replace(records((50, 5), (51, 5)), process=None))
    assert read.process is not None
    assert read.process.tolist() == [0, 0]
    group.ended((50, 6))
    assert group.exits.take_late() == [Late("work", 0, 1)]


@pytest.mark.parametrize(
    "group",
    [Group(discovery="polling"), Group(("blkio_delay_ns", "rss_bytes"))],
    ids=["polling", "no time on a CPU"],
)
def test_records_stay_as_they_are_without_both_sources(group: Group) -> None:
    group.ended((50, 9))
    assert group.cpu((50, 5)) == [5]
    group.cpu((51, 5))
    group.ended((51, 9))
    assert group.exits.take_late() == []


def test_only_so_many_whole_times_wait_for_their_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exits, "_MOST", 2)
    group = Group()
    group.ended((50, 9), (51, 9), (52, 9))
    assert group.cpu((50, 5), (51, 5), (52, 5)) == [5, 5, 9]


def test_only_so_many_records_wait_for_whole_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exits, "_MOST", 2)
    group = Group()
    group.cpu((50, 5), (51, 5), (52, 5))
    group.ended((50, 6), (51, 7), (52, 8))
    assert [one.cpu_ns for one in group.exits.take_late()] == [1, 2]


def test_a_later_process_with_the_id_of_a_member_that_ended_is_left_out() -> None:
    """Exit records of the later process arrive before and after those of the member."""
    group = Group()
    assert group.drain(100.0, (50, 40, 9.9, False)) == [50]
    assert group.drain(
        100.1, (61, 40, 0.01, False), (51, 40, 10.0, False), (40, 40, 10.02, True)
    ) == [51, 40]
    assert group.drain(100.2, (62, 40, 0.1, False), (52, 40, 9.5, False)) == [52]
    # The later process has ended as well.
    assert group.drain(100.3, (40, 40, 0.2, True)) == []


def test_a_young_process_and_a_long_wait_leave_nothing_out() -> None:
    group = Group()
    assert group.drain(100.0, (50, 40, 0.1, False)) == [50]
    assert group.drain(100.1, (51, 40, 0.01, False), (40, 40, 0.2, True)) == [51, 40]
    # The collector was stopped: the process lived for most of that time.
    assert group.drain(160.0, (52, 41, 1.0, False), (41, 41, 60.0, True)) == [52, 41]


def test_a_later_process_that_is_a_member_counts() -> None:
    group = Group()
    group.drain(100.0, (50, 40, 9.9, False))
    group.drain(100.1, (40, 40, 10.0, True))
    group.members.add(Newcomer(40, 0, 0, 0, "again", None))
    assert group.drain(100.2, (61, 40, 0.1, False)) == [61]


def test_a_late_drain_still_knows_whose_records_come() -> None:
    """A machine so busy that records wait in their sockets longer than members are remembered."""
    group = Group()
    born = Newcomer(PROCESS, 1, 5, 0, "work", 0)
    group.members.add(born)
    heard_ns = 10 * BELIEVED_NS
    group.members.end(PROCESS, heard_ns, heard_ns)
    group.members.forget(heard_ns + 5 * BELIEVED_NS)
    assert PROCESS in group.members.believed
    drained_ns = heard_ns + 5 * BELIEVED_NS
    group.exits.decode(np.zeros((1, 70), np.uint64), np.array([drained_ns], np.int64))
    group.members.forget(drained_ns + 1)
    assert PROCESS not in group.members.believed
