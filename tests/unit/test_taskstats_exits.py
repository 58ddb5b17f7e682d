"""Exit records: every one is received, refused by name, or counted as lost."""

import errno
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from taskstats_replies import (
    FAMILY,
    LENGTHS,
    PADS,
    VERSIONS,
    FakeLink,
    Pad,
    exit_record,
    hostile,
    payload_offset,
    reply,
    stats,
)
from tidscope_collector.taskstats.exits import (
    EXIT_BUFFER_BYTES,
    ExitListener,
    Exits,
    parse_cpu_list,
    possible_cpus,
)
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError
from tidscope_collector.taskstats.numbering import Numbering
from tidscope_collector.taskstats.refusals import Refusal


def kernel(version: int = 16, pad: Pad = "none") -> Kernel:
    return Kernel(FAMILY, choose(version, LENGTHS[version]), payload_offset(pad))


class Harness:
    """A listener on two CPUs, and the hand-made kernel behind it.

    Attributes:
        drops: what the kernel says that it dropped, by CPU; None if it does not say.
    """

    def __init__(self, version: int, pad: Pad, *, tells_drops: bool) -> None:
        self.version, self.pad = version, pad
        self.drops: list[int | None] = [7, 9] if tells_drops else [None, None]
        self.links: list[FakeLink] = []
        self.buffers: list[int] = []
        self.listener = ExitListener(
            kernel(version, pad), [0, 1], open_link=self._open, drops=self._dropped
        )

    def _open(self, buffer_bytes: int) -> FakeLink:
        self.buffers.append(buffer_bytes)
        self.links.append(FakeLink())
        return self.links[-1]

    def _dropped(self, asked: socket.socket) -> int | None:
        return next(d for link, d in zip(self.links, self.drops, strict=False) if link is asked)

    def record(self, number: int, tid: int = 50, process: int | None = None) -> bytes:
        last = None if process is None else (process, stats(self.version, 0))
        body = stats(self.version, tid)
        return exit_record(tid, body, sequence=number, pad=self.pad, process=last)

    def exit(self, cpu: int, *numbers: int) -> None:
        """Threads exit; thread 1000 + number takes number."""
        self.links[cpu].put(*(self.record(number, 1000 + number % 2**16) for number in numbers))

    def drop(self, cpu: int, count: int) -> None:
        before = self.drops[cpu]
        assert before is not None
        self.drops[cpu] = (before + count) % 2**32

    def tids(self, exits: Exits) -> list[int]:
        tids: list[int] = self.listener.own_member(exits, "ac_pid").tolist()
        return tids


@contextmanager
def listening(
    version: int = 16, pad: Pad = "none", *, tells_drops: bool = True
) -> Iterator[Harness]:
    harness = Harness(version, pad, tells_drops=tells_drops)
    try:
        yield harness
    finally:
        harness.listener.close()


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", [0]), ("0-3", [0, 1, 2, 3]), ("0-1,4,6-7\n", [0, 1, 4, 6, 7]), ("12", [12])],
)
def test_a_list_of_cpus_is_read(text: str, cpus: list[int]) -> None:
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "1-", "0,,2"])
def test_what_is_no_list_of_cpus_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        parse_cpu_list(text)


def test_the_possible_cpus_are_those_of_sysfs(tmp_path: Path) -> None:
    folder = tmp_path / "devices/system/cpu"
    folder.mkdir(parents=True)
    (folder / "possible").write_text("0-2,5\n")
    assert possible_cpus(tmp_path) == [0, 1, 2, 5]


def test_each_cpu_is_registered_on_its_own_socket_with_64_mib() -> None:
    with listening() as harness:
        assert harness.buffers == [EXIT_BUFFER_BYTES] * 2 == [64 << 20] * 2
        for cpu, link in enumerate(harness.links):
            (request,) = link.sent
            assert struct.unpack_from("=H", request, 4) == (FAMILY,)
            length, attribute = struct.unpack_from("=HH", request, 20)
            assert (attribute, request[24 : 20 + length]) == (3, b"%d\0" % cpu)
        links = list(harness.links)
    for cpu, link in enumerate(links):
        length, attribute = struct.unpack_from("=HH", link.sent[-1], 20)
        assert (attribute, link.sent[-1][24 : 20 + length]) == (4, b"%d\0" % cpu)
        assert link.fileno() == -1


@pytest.mark.parametrize("code", [errno.EPERM, errno.EINVAL, errno.ERANGE])
def test_a_refused_registration_says_what_is_needed(code: int) -> None:
    links: list[FakeLink] = []

    def open_link(_: int) -> FakeLink:
        links.append(FakeLink(acknowledge=code if links else 0))
        return links[-1]

    with pytest.raises(TaskstatsUnavailableError, match="initial PID and network namespaces"):
        ExitListener(kernel(), [0, 1], open_link=open_link)
    assert [link.fileno() for link in links] == [-1, -1]


def test_records_that_come_before_the_answer_to_the_registration_do_no_harm() -> None:
    early = exit_record(7, stats(16, 7), sequence=4)
    listener = ExitListener(kernel(), [0], open_link=lambda _: FakeLink(early=[early]))
    assert len(listener.drain().words) == 0
    assert not listener.refused
    listener.close()


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_records_of_each_version_are_taken_whole(version: int, pad: Pad) -> None:
    with listening(version, pad) as harness:
        harness.links[0].put(
            harness.record(3, 51), harness.record(4, 52, process=40), harness.record(5, 53)
        )
        harness.links[1].put(harness.record(90, 61, process=60))
        for _ in range(2):  # the first message of a kind is walked, later ones are compared with it
            exits = harness.listener.drain()
            whole = {row.tobytes() for row in exits.words}
            assert whole == {stats(version, tid) for tid in (51, 52, 53, 61)}
            reported = zip(
                exits.cpu.tolist(), exits.number.tolist(), harness.tids(exits), strict=True
            )
            assert set(reported) == {(0, 3, 51), (0, 4, 52), (0, 5, 53), (1, 90, 61)}
            assert exits.ended == {40, 60}
            harness.links[0].put(
                harness.record(3, 51), harness.record(4, 52, process=40), harness.record(5, 53)
            )
            harness.links[1].put(harness.record(90, 61, process=60))
        assert harness.listener.received == 8
        assert not harness.listener.refused


def test_nothing_is_nothing() -> None:
    with listening() as harness:
        exits = harness.listener.drain()
        assert exits.words.shape == (0, 70)
        assert (len(exits.cpu), len(exits.number), exits.ended, exits.lost) == (
            0,
            0,
            frozenset(),
            0,
        )


def test_more_records_than_fit_a_batch_are_all_taken() -> None:
    with listening() as harness:
        harness.exit(0, *range(600))
        assert harness.listener.drain().number.tolist() == list(range(600))
        assert harness.listener.numbering.missing == 0


@pytest.mark.parametrize("version", [8, 12, 15, 16])
def test_each_wrong_message_is_refused_alone_and_by_name(version: int) -> None:
    for what, name, wrong in hostile(version, 50, 2):
        with listening(version) as harness:
            harness.links[0].put(harness.record(1, 49), wrong, harness.record(3, 51))
            exits = harness.listener.drain()
            assert harness.tids(exits) == [49, 51], what
            assert {row.tobytes() for row in exits.words} == {stats(version, t) for t in (49, 51)}
            assert dict(harness.listener.refused) == {Refusal[name]: 1}, what
            assert exits.lost == 0


def test_a_record_cut_at_any_byte_is_refused() -> None:
    with listening(13) as harness:
        whole = harness.record(2, 50, process=40)
        harness.links[0].put(harness.record(1, 49), whole)
        assert len(harness.listener.drain().words) == 2
        for cut in range(len(whole)):
            harness.links[0].put(whole[:cut])
            assert len(harness.listener.drain().words) == 0, cut
            assert harness.listener.refused.total() == cut + 1, cut


def test_a_message_longer_than_its_slot_is_refused() -> None:
    with listening() as harness:
        body = stats(16, 50) + bytes(8192)
        harness.links[0].put(exit_record(50, body, sequence=1), harness.record(2, 51))
        assert harness.tids(harness.listener.drain()) == [51]
        assert dict(harness.listener.refused) == {Refusal.CUT: 1}


def test_kinds_of_message_are_learnt_only_up_to_a_bound() -> None:
    def odd(number: int) -> bytes:
        extra = struct.pack("=HH", 4, 99) * number
        made = harness.record(number) + extra
        return struct.pack("=I", len(made)) + made[4:]

    with listening() as harness:
        harness.links[0].put(*(odd(number) for number in range(20)))
        assert len(harness.listener.drain().words) == 8
        assert dict(harness.listener.refused) == {Refusal.SHAPES: 12}
        harness.links[0].put(harness.record(20), odd(3), odd(15))
        assert len(harness.listener.drain().words) == 2


def test_what_the_kernel_dropped_is_lost_exactly() -> None:
    with listening() as harness:
        harness.exit(0, 1, 2)
        assert harness.listener.drain().lost == 0  # 7 and 9 were dropped before we listened
        harness.exit(0, 411)
        harness.drop(0, 408)
        harness.exit(1, 5)
        harness.drop(1, 1)
        assert harness.listener.drain().lost == 409
        harness.exit(0, 412)
        assert harness.listener.drain().lost == 0
        assert harness.listener.lost == 409
        assert (
            harness.listener.numbering.missing == 408
        )  # that of CPU 1 has no number behind it yet


def test_the_kernels_count_may_start_again_at_0() -> None:
    with listening() as harness:
        harness.drops[0] = 2**32 - 2
        harness.exit(0, 1)
        before = harness.listener.drain().lost
        harness.drop(0, 5)
        harness.exit(0, 7)
        assert harness.drops[0] == 3
        assert before == 2**32 - 9
        assert harness.listener.drain().lost == 5


def test_a_record_that_was_overtaken_is_not_lost() -> None:
    for tells in (True, False):
        with listening(tells_drops=tells) as harness:
            harness.exit(0, 1, 2, 4)
            assert harness.listener.drain().lost == 0
            harness.exit(0, 3, 5)
            assert harness.listener.drain().lost == 0
            assert harness.listener.numbering.missing == 0


def test_without_the_kernels_count_gaps_tell_what_is_lost() -> None:
    with listening(tells_drops=False) as harness:
        harness.exit(0, 1, 2, 411)
        harness.exit(1, 2**32 - 1, 3)
        # A gap may be a record that was overtaken: it is believed when it is there the next time.
        assert [harness.listener.drain().lost for _ in range(3)] == [0, 408 + 3, 0]
        harness.exit(0, 413)
        assert [harness.listener.drain().lost for _ in range(3)] == [0, 1, 0]
        assert harness.listener.lost == 412


@pytest.mark.parametrize(
    ("batches", "missing"),
    [
        ([], 0),
        ([(0, [5])], 0),
        ([(0, [5, 6, 7]), (0, [8])], 0),
        ([(0, [5, 9])], 3),
        ([(0, [5]), (0, [9])], 3),
        ([(0, [5, 7, 6, 8])], 0),  # overtaken
        ([(0, [5, 7]), (0, [6, 8])], 0),  # overtaken, across batches
        ([(0, [5, 7]), (0, [8])], 1),
        ([(0, [2**32 - 2, 2**32 - 1, 0, 1])], 0),
        ([(0, [2**32 - 2, 1])], 2),
        ([(0, [2**32 - 2]), (0, [0]), (0, [2**32 - 1])], 0),
        ([(0, [5, 6]), (1, [900, 903])], 2),
        # 901 was taken on CPU 1, its thread moved to CPU 0 and sent there
        ([(0, [50_000_000, 50_000_001]), (1, [900]), (0, [901]), (1, [902])], 0),
        ([(0, [900]), (1, [50_000_000]), (0, [50_000_001]), (1, [50_000_002]), (0, [901])], 0),
        ([(0, [900]), (1, [920]), (0, [921]), (1, [922]), (0, list(range(901, 930)))], 0),
    ],
)
def test_the_account_of_the_numbers(batches: Sequence[tuple[int, list[int]]], missing: int) -> None:
    numbering = Numbering()
    for cpu, numbers in batches:
        numbering.note(cpu, np.array(numbers, np.uint32))
    assert numbering.missing == missing


def test_a_reply_is_no_exit_record_of_another_thread() -> None:
    with listening() as harness:
        harness.links[0].put(reply(50, stats(16, 51), sequence=1, port=0))
        assert len(harness.listener.drain().words) == 0
        assert dict(harness.listener.refused) == {Refusal.IDENTITY: 1}


def aged(version: int, tid: int, process: int, age_ms: int, pad: Pad = "none") -> bytes:
    """The record of a thread that ended when its process was so old."""
    members = {"ac_tgetime": age_ms * 1000} if version >= 12 else {}
    body = stats(version, tid, tgid=process, members=members)
    return exit_record(tid, body, sequence=tid, pad=pad)


@pytest.mark.parametrize("version", VERSIONS)
def test_records_of_a_process_that_got_the_id_of_another_one_are_left_out(version: int) -> None:
    """The process began ten seconds before the first drain, and lived then."""
    with listening(version) as harness:
        began_ns = harness.listener.drain().before_ns - 10_000_000_000
        harness.links[0].put(
            aged(version, 51, 40, 10_002),
            aged(version, 52, 40, 9_500),  # was late
            aged(version, 53, 40, 30),
            aged(version, 54, 41, 30),
        )
        exits = harness.listener.drain()
        assert harness.tids(exits) == [51, 52, 53, 54]
        own = harness.listener.of_process(exits, 40, began_ns)
        assert harness.tids(own) == ([51, 52, 54] if version >= 12 else [51, 52, 53, 54])
        assert len(own.cpu) == len(own.number) == len(own.words)


def test_records_of_a_young_process_are_kept_whoever_has_its_id() -> None:
    with listening() as harness:
        began_ns = harness.listener.drain().before_ns - 500_000_000
        harness.links[0].put(aged(16, 51, 40, 2))
        exits = harness.listener.drain()
        assert harness.listener.of_process(exits, 40, began_ns) is exits


def test_records_that_waited_long_are_those_of_the_process() -> None:
    """The collector was stopped for a minute: what counts is when it drained before."""
    with listening() as harness:
        began_ns = harness.listener.drain().before_ns - 5_000_000_000
        harness.links[0].put(aged(16, 51, 40, 5_001), aged(16, 52, 40, 64_000))
        exits = harness.listener.drain()
        late = replace(exits, before_ns=exits.before_ns + 60_000_000_000)
        assert harness.listener.of_process(late, 40, began_ns) is late
