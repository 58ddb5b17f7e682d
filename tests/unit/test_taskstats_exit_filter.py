"""Which exit records the kernel leaves out. Its filter runs here on a socket of another family."""

import socket
from collections.abc import Iterator

import pytest
from taskstats_replies import (
    FAMILY,
    LENGTHS,
    PADS,
    Pad,
    error,
    exit_record,
    message,
    payload_offset,
    stats,
)
from tidscope_collector.taskstats.exit_filter import MAX_PROCESSES, attach_filter, exit_filter
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel

OWN, OTHER = 300, 70_000


class Pair:
    """A socket with a filter, and what is sent to it."""

    def __init__(self) -> None:
        self.end, self.link = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.link.setblocking(False)

    def passed(self, *datagrams: bytes) -> list[bytes]:
        """Those that come through."""
        for one in datagrams:
            self.end.send(one)
        found = []
        while True:
            try:
                found.append(self.link.recv(65536))
            except BlockingIOError:
                return found


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    with made.end, made.link:
        yield made


def kernel(version: int = 16, pad: Pad = "none") -> Kernel:
    return Kernel(FAMILY, choose(version, LENGTHS[version]), payload_offset(pad))


def ended(process: int, version: int = 16, pad: Pad = "none", last: bool = False) -> bytes:
    """The record of a thread, which may have been the last one of its process."""
    whole = (process, stats(version, 0)) if last else None
    body = stats(version, process + 1, tgid=process)
    return exit_record(process + 1, body, sequence=1, pad=pad, process=whole)


@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("version", range(12, 17))
def test_records_of_other_processes_do_not_come(pair: Pair, version: int, pad: Pad) -> None:
    attach_filter(pair.link, exit_filter(kernel(version, pad), {OWN, 5, 6}))
    own = ended(OWN, version, pad), ended(OWN, version, pad, last=True)
    other = ended(OTHER, version, pad), ended(OTHER, version, pad, last=True)
    assert pair.passed(other[0], own[0], other[1], own[1]) == list(own)


def test_without_a_process_none_come(pair: Pair) -> None:
    attach_filter(pair.link, exit_filter(kernel(), ()))
    assert pair.passed(ended(OTHER)) == []


def test_whatever_is_no_such_record_comes_through(pair: Pair) -> None:
    attach_filter(pair.link, exit_filter(kernel(), {OWN}))
    record = ended(OTHER)
    odd = [
        error(1, 0),
        b"short",
        record[:100],
        message(record[20:], type_=FAMILY + 1),
        ended(OTHER, version=15),
        ended(OTHER, pad="before"),
    ]
    assert pair.passed(*odd) == odd


def test_a_filter_is_changed_and_taken_away(pair: Pair) -> None:
    attach_filter(pair.link, exit_filter(kernel(), {OWN}))
    attach_filter(pair.link, exit_filter(kernel(), {OTHER}))
    assert pair.passed(ended(OWN), ended(OTHER)) == [ended(OTHER)]
    attach_filter(pair.link, None)
    assert pair.passed(ended(OWN), ended(OTHER)) == [ended(OWN), ended(OTHER)]


def test_the_most_processes_fit_and_more_are_not_filtered(pair: Pair) -> None:
    most = range(1, MAX_PROCESSES + 1)
    attach_filter(pair.link, exit_filter(kernel(), most))
    assert pair.passed(ended(MAX_PROCESSES), ended(OTHER)) == [ended(MAX_PROCESSES)]
    assert exit_filter(kernel(), range(MAX_PROCESSES + 1)) is None


def test_a_kernel_that_does_not_say_whose_threads_ended_is_not_filtered() -> None:
    assert exit_filter(kernel(11), {OWN}) is None
