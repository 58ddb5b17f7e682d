"""Batches of replies: right numbers in right columns, and nothing wrong is believed."""

import ctypes
import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from taskstats_replies import (
    FAMILY,
    LENGTHS,
    PADS,
    VERSIONS,
    Answer,
    FakeLink,
    Pad,
    error,
    exit_record,
    hostile,
    payload_offset,
    reply,
    stats,
    struct_of,
    value_of,
)
from tidscope_collector.sampling.readings import text
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.taskstats.refusals import Refusal
from tidscope_collector.taskstats.replies import Replies
from tidscope_collector.threads.reading import Reading
from tidscope_wire.generated.catalogue import CATALOGUE

PROCESS = 100
TIDS = np.array([101, 102, 103], np.uint32)


def kernel(version: int, pad: Pad = "none") -> Kernel:
    return Kernel(FAMILY, choose(version, LENGTHS[version]), payload_offset(pad))


def right(version: int, pad: Pad = "none") -> Answer:
    return lambda tid, sequence: [reply(tid, stats(version, tid), sequence=sequence, pad=pad)]


@contextmanager
def reader(
    version: int, answer: Answer, *, pad: Pad = "none", delays: bool = True
) -> Iterator[tuple[TaskstatsReader, BatchQuery, FakeLink]]:
    link = FakeLink(answer)
    query = BatchQuery(kernel(version, pad), lambda _: link)
    made = TaskstatsReader(query, PROCESS, delay_accounting=delays, delays_from_ns=0)
    try:
        yield made, query, link
    finally:
        query.close()


def check_numbers(reading: Reading, made: TaskstatsReader) -> None:
    """Every column has, for every thread, the value that its member was given."""
    members = {field.name: field.taskstats for field in CATALOGUE.fields}
    for row, tid in enumerate(reading.tid.tolist()):
        reported = dict(zip(made.fields, reading.counters[row].tolist(), strict=True))
        assert reported == {name: value_of(str(members[name]), tid) for name in made.fields}
    assert reading.name.tolist() == [b"worker"] * len(reading.tid)
    assert reading.absent is None


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_gives_the_right_numbers(version: int, pad: Pad) -> None:
    with reader(version, right(version, pad), pad=pad) as (made, query, _):
        for _ in range(2):  # the first reply is walked, later ones are compared with it
            reading = made.read(TIDS)
            assert reading.tid.tolist() == TIDS.tolist()
            check_numbers(reading, made)
        assert not query.refused
    own = {name for name, type_, *_ in struct_of(version)._fields_ if type_ is ctypes.c_uint64}
    wanted = {f.name for f in CATALOGUE.fields if f.scope == "thread" and f.taskstats in own}
    assert set(made.fields) == wanted
    threads = {field.name for field in CATALOGUE.fields if field.scope == "thread"}
    assert {field.field for field in made.absent} == threads - wanted


def test_the_columns_are_where_the_header_has_them() -> None:
    """A few by hand, so that the catalogue itself is held to something."""
    members = {"cpu_run_virtual_total": 7, "nvcsw": 8, "read_bytes": 9, "irq_delay_total": 10}

    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        return [reply(tid, stats(16, tid, members=members), sequence=sequence)]

    with reader(16, answer) as (made, _, _):
        reported = dict(zip(made.fields, made.read(TIDS[:1]).counters[0].tolist(), strict=True))
    assert reported["cpu_run_ns"] == 7
    assert reported["voluntary_switches"] == 8
    assert reported["disk_read_bytes"] == 9
    assert reported["irq_delay_ns"] == 10


@pytest.mark.parametrize("version", [8, 12, 15, 16])
@pytest.mark.parametrize("first", [True, False])
def test_each_wrong_reply_is_refused_alone_and_by_name(version: int, first: bool) -> None:
    slot = Replies(kernel(version)).slots(1)
    for what, name, wrong in hostile(version, 102, 0):
        with reader(version, in_place_of(102, version, what, after=not first)) as (made, query, _):
            if not first:
                made.read(TIDS)
            reading = made.read(TIDS)
            assert reading.tid.tolist() == [101, 103], what
            check_numbers(reading, made)
            refusal = Refusal.CUT if slot.lead + len(wrong) > slot.bytes.size else Refusal[name]
            silent = {Refusal.SILENCE: 1} if len(wrong) < 16 else {}
            assert dict(query.refused) == {refusal: 1, **silent}, what


def in_place_of(tid: int, version: int, what: str, *, after: bool) -> Answer:
    """Answers rightly, but for one thread; `after` a right answer for it."""
    usual = right(version)
    asked = iter([after])

    def answer(asked_tid: int, sequence: int) -> Sequence[bytes]:
        if asked_tid != tid or next(asked, False):
            return usual(asked_tid, sequence)
        return [wrong for reported, _, wrong in hostile(version, tid, sequence) if reported == what]

    return answer


def test_a_reply_cut_at_any_byte_is_refused() -> None:
    whole = len(reply(102, stats(13, 102), sequence=1))
    for cut in range(whole):

        def answer(tid: int, sequence: int, cut: int = cut) -> Sequence[bytes]:
            made = reply(tid, stats(13, tid), sequence=sequence)
            return [made[:cut] if tid == 102 else made]

        with reader(13, answer) as (made, query, _):
            assert made.read(TIDS).tid.tolist() == [101, 103], cut
            # What has no whole header has no sequence number, so that its question has no answer.
            assert query.refused.total() == (1 if cut >= 16 else 2), cut


def test_a_reply_longer_than_its_slot_is_refused() -> None:
    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        extra = bytes(4096) if tid == 102 else b""
        return [reply(tid, stats(16, tid) + extra, sequence=sequence)]

    with reader(16, answer) as (made, query, _):
        assert made.read(TIDS).tid.tolist() == [101, 103]
        assert dict(query.refused) == {Refusal.CUT: 1}


def test_a_thread_that_has_gone_is_left_out_and_nothing_is_refused() -> None:
    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        return [error(sequence, errno.ESRCH)] if tid == 102 else right(16)(tid, sequence)

    with reader(16, answer) as (made, query, _):
        reading = made.read(TIDS)
        assert reading.tid.tolist() == [101, 103]
        check_numbers(reading, made)
        assert not query.refused


@pytest.mark.parametrize(
    ("code", "kind"),
    [(errno.EPERM, PermissionError), (errno.ENOMEM, OSError), (errno.EINVAL, OSError)],
)
def test_another_error_is_not_taken_for_a_thread_that_has_gone(
    code: int, kind: type[OSError]
) -> None:
    refuse = [True]

    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        if refuse[0] and tid == 102:
            return [error(sequence, code)]
        return right(16)(tid, sequence)

    with reader(16, answer) as (made, _, _):
        with pytest.raises(kind) as caught:
            made.read(TIDS)
        assert caught.value.errno == code
        refuse[0] = False
        assert made.read(TIDS).tid.tolist() == TIDS.tolist()


def test_an_answer_that_does_not_come_is_counted() -> None:
    with reader(16, lambda tid, n: [] if tid == 102 else right(16)(tid, n)) as (made, query, _):
        reading = made.read(TIDS)
        assert reading.tid.tolist() == [101, 103]
        check_numbers(reading, made)
        assert dict(query.refused) == {Refusal.SILENCE: 1}


def test_the_first_of_two_answers_is_believed() -> None:
    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        second = reply(tid, stats(16, tid, members={"nvcsw": 1}), sequence=sequence)
        return [*right(16)(tid, sequence), second]

    with reader(16, answer) as (made, query, _):
        for round_ in (1, 2):
            reading = made.read(TIDS)
            assert reading.tid.tolist() == TIDS.tolist()
            check_numbers(reading, made)
            assert dict(query.refused) == {Refusal.TWICE: 3 * round_}


def test_an_answer_to_an_earlier_question_is_not_taken_for_this_one() -> None:
    with reader(16, right(16)) as (made, query, link):
        made.read(TIDS)
        # The same threads, well formed, numbered as the query before; and one from the future.
        link.put(*(reply(tid, stats(16, tid), sequence=1) for tid in TIDS.tolist()))
        link.put(reply(101, stats(16, 101, members={"nvcsw": 1}), sequence=7))
        link.put(error(2, errno.ESRCH), error(3, errno.EPERM))
        reading = made.read(TIDS)
        assert reading.tid.tolist() == TIDS.tolist()
        check_numbers(reading, made)
        assert dict(query.refused) == {Refusal.UNASKED: 4, Refusal.TYPE: 2}
        # They are gone, and not in the way of the next.
        check_numbers(made.read(TIDS), made)
        assert query.refused.total() == 6


def test_a_flood_that_nobody_asked_for_is_got_over() -> None:
    with reader(16, right(16)) as (made, query, link):
        flood = [reply(tid, stats(16, tid), sequence=2**31) for tid in range(1000, 1500)]
        link.put(*flood)
        reading = made.read(TIDS)
        check_numbers(reading, made)
        assert query.refused[Refusal.UNASKED] >= 500 - len(TIDS)
        assert made.read(TIDS).tid.tolist() == TIDS.tolist()


def test_answers_may_come_in_any_order() -> None:
    held: list[bytes] = []

    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        held.insert(0, reply(tid, stats(16, tid), sequence=sequence))
        return held if tid == 103 else []

    with reader(16, answer) as (made, query, _):
        reading = made.read(TIDS)
        assert reading.tid.tolist() == TIDS.tolist()
        check_numbers(reading, made)
        assert not query.refused


@pytest.mark.parametrize(
    ("comm", "name"),
    [
        (b"worker\0", b"worker"),
        (b"fifteen-letters", b"fifteen-letters"),
        (b"x" * 32, b"x" * 16),  # no zero in it
        (b"", b""),
        (b"a\0rubbish", b"a"),
        ("wörk".encode() + b"\xff", "wörk".encode() + b"\xff"),
    ],
)
def test_a_name_ends_at_its_first_zero_or_its_last_byte(comm: bytes, name: bytes) -> None:
    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        return [reply(tid, stats(16, tid, comm=comm), sequence=sequence)]

    with reader(16, answer) as (made, _, _):
        reading = made.read(TIDS)
    assert [text(bytes(one)) for one in reading.name] == [name.decode("utf-8", "replace")] * 3
    for tid, run_ns in zip(TIDS.tolist(), reading.counters[:, 0].tolist(), strict=True):
        assert run_ns == value_of("cpu_run_virtual_total", tid)


@pytest.mark.parametrize(("version", "left"), [(11, [101, 102, 103]), (12, [101, 103])])
def test_a_thread_id_that_another_process_took_over_is_left_out(
    version: int, left: list[int]
) -> None:
    def answer(tid: int, sequence: int) -> Sequence[bytes]:
        tgid = 999 if tid == 102 else PROCESS
        return [reply(tid, stats(version, tid, tgid=tgid), sequence=sequence)]

    with reader(version, answer) as (made, _, _):
        assert made.read(TIDS).tid.tolist() == left


@pytest.mark.parametrize("count", [0, 1, 128, 129, 256, 257, 700])
def test_any_number_of_threads_is_read(count: int) -> None:
    tids = np.arange(5000, 5000 + count, dtype=np.uint32)
    with reader(16, right(16)) as (made, query, link):
        for _ in range(2):
            reading = made.read(tids)
            assert reading.tid.tolist() == tids.tolist()
            check_numbers(reading, made)
        assert len(link.sent) == 2 * count
        assert not query.refused


@pytest.mark.parametrize("count", [1, 3])
def test_a_reading_stays_as_it_is_when_the_next_is_made(count: int) -> None:
    with reader(16, right(16)) as (made, _, _):
        before = made.read(TIDS[:count])
        made.read(TIDS[:count] + np.uint32(1000))
        assert before.tid.tolist() == TIDS[:count].tolist()
        check_numbers(before, made)


def test_sequence_numbers_start_again_before_they_run_out() -> None:
    with reader(16, right(16)) as (made, query, link):
        query._sequence = 2**32 - 5
        for _ in range(3):
            check_numbers(made.read(TIDS), made)
        numbers = [int.from_bytes(request[8:12], "little") for request in link.sent]
        assert numbers[:6] == [2**32 - 5, 2**32 - 4, 2**32 - 3, 1, 2, 3]
        assert not query.refused


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tid, n: exit_record(tid, stats(16, tid), sequence=n, process=(1, stats(16, 1))),
        lambda tid, n: reply(tid, stats(16, tid), sequence=n, pad="inside"),
    ],
    ids=["an exit record", "a pad that the probe did not see"],
)
def test_a_message_of_another_shape_is_not_read_at_the_wrong_place(
    wrong: Callable[[int, int], bytes],
) -> None:
    with reader(16, lambda tid, n: [wrong(tid, n)]) as (made, query, _):
        assert made.read(TIDS).tid.tolist() == []
        assert query.refused.total() == 3
        assert set(query.refused) <= {Refusal.CONTENT, Refusal.CUT}
