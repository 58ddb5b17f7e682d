"""Any bytes as a batch of datagrams: the decoders of taskstats must believe only what is right.

The bytes are a small program, so that a fuzzer comes deep with few changes: which kernel, then one
datagram after the other, raw or made by the test's own builder and patched.
"""

import errno
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from taskstats_replies import (
    AGGR_PID,
    AGGR_TGID,
    FAMILY,
    LENGTHS,
    PADS,
    PID,
    STATS,
    TGID,
    Pad,
    error,
    exit_record,
    payload_offset,
    reply,
    stats,
)
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.records import RecordDecoder
from tidscope_collector.taskstats.refusals import Refusal
from tidscope_collector.taskstats.replies import Replies

TIDS = (101, 102, 103)
FIRST = 7
"""Sequence number of the first question."""
SLOTS = 8
MSG_TRUNC = 0x20


@dataclass(frozen=True)
class Datagram:
    """Datagrams with their senders, and whether the kernel could have sent them."""

    payload: bytes
    sender: int = 0
    untouched: bool = False


@dataclass(frozen=True)
class Scene:
    """A kernel and what it sent: replies or exits; `primed`: after it had sent right ones."""

    version: int
    pad: Pad
    primed: bool
    exits: bool
    datagrams: tuple[Datagram, ...]


class _Tape:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def short(self) -> int:
        return self.byte() + (self.byte() << 8)

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    @property
    def left(self) -> bool:
        return self.at < len(self.data)


@cache
def _stats(version: int, tid: int) -> bytes:
    return stats(version, tid)


@cache
def _kernel(version: int, pad: Pad) -> Kernel:
    return Kernel(FAMILY, choose(version, LENGTHS[version]), payload_offset(pad))


@cache
def right_reply(version: int, pad: Pad, place: int) -> bytes:
    """The right answer to a question."""
    return reply(TIDS[place], _stats(version, TIDS[place]), sequence=FIRST + place, pad=pad)


@cache
def right_record(version: int, pad: Pad, number: int) -> bytes:
    """A right exit record; odd ones are those of the last thread of a process."""
    last = (50, stats(version, 0)) if number % 2 else None
    return exit_record(
        60 + number, stats(version, 60 + number), sequence=number, pad=pad, process=last
    )


def scene(data: bytes) -> Scene:
    """What the bytes stand for."""
    tape = _Tape(data)
    version, pad, bits = 8 + tape.byte() % 9, PADS[tape.byte() % 3], tape.byte()
    datagrams: list[Datagram] = []
    while tape.left and len(datagrams) < SLOTS:
        datagrams.append(_datagram(tape, version, pad))
    return Scene(version, pad, bits & 1 == 1, bits & 2 == 2, tuple(datagrams))


def _datagram(tape: _Tape, version: int, pad: Pad) -> Datagram:
    code = tape.byte()
    place, patches, sender = code >> 2 & 3, code >> 4 & 7, code >> 7
    kind = code & 3
    if kind == 0:
        return Datagram(tape.take(tape.short()), sender)
    if kind == 1 and place == 3:
        return Datagram(error(FIRST + tape.byte() % 4, tape.short()), sender)
    made = right_reply(version, pad, place) if kind == 1 else right_record(version, pad, place)
    if kind == 3:  # Another length: truncated or repeated.
        made = (made * 2)[: tape.short() % (2 * len(made) + 1)]
        if place & 1:  # The loss is reported.
            made = struct.pack("=I", len(made)) + made[4:]
    patched = bytearray(made)
    for _ in range(patches):
        at, value = tape.short(), tape.byte()
        if patched:
            # Few headers, many numbers: half of the patches go to the headers.
            patched[at % (len(patched) if at & 0x8000 else min(len(patched), 44))] = value
    untouched = kind != 3 and bytes(patched) == made and not sender
    return Datagram(bytes(patched), sender, untouched)


def check_netlink(data: bytes) -> None:
    """Decode a scene.

    Raises:
        AssertionError: something was believed that is not right, or not counted.
    """
    what = scene(data)
    if what.exits:
        _check_records(what)
    else:
        _check_replies(what)


def _load(slots: Slots, datagrams: tuple[Datagram, ...]) -> int:
    """Fill slots as recvmmsg(2) does; earlier content stays behind each datagram."""
    for slot, datagram in enumerate(datagrams):
        room = slots.bytes.shape[1] - slots.lead
        fitting = datagram.payload[:room]
        slots.bytes[slot, slots.lead : slots.lead + len(fitting)] = np.frombuffer(fitting, np.uint8)
        slots.lengths[slot] = len(fitting)
        slots._headers["flags"][slot] = MSG_TRUNC if len(datagram.payload) > room else 0
        slots._senders[slot, 1] = datagram.sender
    return len(datagrams)


@cache
def _reply_slots(version: int, pad: Pad) -> Slots:
    return Replies(_kernel(version, pad)).slots(SLOTS)


@cache
def _record_slots(version: int, pad: Pad) -> Slots:
    return RecordDecoder(_kernel(version, pad)).slots(SLOTS)


@cache
def _primed_replies(version: int, pad: Pad) -> Replies:
    replies, slots = Replies(_kernel(version, pad)), _reply_slots(version, pad)
    right = tuple(Datagram(right_reply(version, pad, place)) for place in range(3))
    words, index = replies.decode(slots, _load(slots, right), FIRST, np.array(TIDS, np.uint32))
    assert index.tolist() == [0, 1, 2]
    assert [row.tobytes() for row in words] == [_stats(version, tid) for tid in TIDS]
    return replies


@cache
def _primed_records(version: int, pad: Pad) -> RecordDecoder:
    decoder, slots = RecordDecoder(_kernel(version, pad)), _record_slots(version, pad)
    right = tuple(Datagram(right_record(version, pad, number)) for number in range(3))
    records = decoder.decode(slots, _load(slots, right))
    assert sorted(records.number.tolist()) == [0, 1, 2]
    assert records.ended == {50}
    return decoder


def _check_replies(what: Scene) -> None:
    replies, slots = Replies(_kernel(what.version, what.pad)), _reply_slots(what.version, what.pad)
    if what.primed:
        replies.shape = _primed_replies(what.version, what.pad).shape
    tids = np.array(TIDS, np.uint32)
    errors = [code for d in what.datagrams if (code := _error(d)) is not None]
    got = _load(slots, what.datagrams)
    try:
        words, index = replies.decode(slots, got, FIRST, tids)
    except OSError as failure:
        assert failure.errno in errors
        assert failure.errno != errno.ESRCH
        return
    assert set(errors) <= {errno.ESRCH}
    places = index.tolist()
    assert sorted(set(places)) == places
    for place, row in zip(places, words, strict=True):
        right = [_struct_of(d, what.version, FIRST + place) for d in what.datagrams]
        assert (TIDS[place], row.tobytes()) in right
    counted = replies.refused.total() - replies.refused[Refusal.SILENCE]
    assert counted + len(places) + len(errors) == got
    if what.primed:
        for datagram in what.datagrams:
            for place in range(3):
                if datagram.untouched and datagram.payload == right_reply(
                    what.version, what.pad, place
                ):
                    assert place in places


def _check_records(what: Scene) -> None:
    version, pad = what.version, what.pad
    decoder, slots = RecordDecoder(_kernel(version, pad)), _record_slots(version, pad)
    if what.primed:
        decoder._shapes = list(_primed_records(version, pad)._shapes)
    got = _load(slots, what.datagrams)
    decoder.numbers(slots, got)
    records = decoder.decode(slots, got)
    believed = Counter(
        (number, row.tobytes())
        for number, row in zip(records.number.tolist(), records.words, strict=True)
    )
    right: Counter[tuple[int, bytes]] = Counter()
    ended: set[int] = set()
    for datagram in what.datagrams:
        found = _record_of(datagram, what.version)
        if found is not None:
            number, payload, process = found
            right[number, payload] += 1
            ended |= set() if process is None else {process}
    assert believed <= right
    assert records.ended <= ended
    assert decoder.refused.total() + believed.total() == got
    if what.primed:
        sure = Counter(
            (number, _stats(what.version, 60 + number))
            for datagram in what.datagrams
            for number in range(4)
            if datagram.untouched
            and datagram.payload == right_record(what.version, what.pad, number)
        )
        assert sure <= believed


# What follows reads messages a second time, slowly and in another way than the collector does.


def _walk(data: bytes) -> list[tuple[int, bytes]] | None:
    found = []
    while data:
        if len(data) < 4:
            return None
        length, kind = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            return None
        found.append((kind & 0x3FFF, data[4:length]))
        data = data[(length + 3) & ~3 :]
    return found


def _body(datagram: Datagram) -> Iterator[tuple[int, dict[int, bytes]]]:
    """Records of a message that is whole; nothing if it is not."""
    data = datagram.payload
    if datagram.sender or len(data) < 20:
        return
    length, kind, _, _, _, command = struct.unpack_from("=IHHIIB", data)
    outer = _walk(data[20:])
    if (length, kind, command) != (len(data), FAMILY, 2) or outer is None:
        return
    records = []
    for aggregate, inside in outer:
        if aggregate in (AGGR_PID, AGGR_TGID):
            inner = _walk(inside)
            wanted = (PID if aggregate == AGGR_PID else TGID, STATS)
            if inner is None or sorted(k for k, _ in inner if k in wanted) != sorted(wanted):
                return
            records.append((aggregate, dict(inner)))
    yield from records


def _whole(payload: bytes, version: int) -> bool:
    return len(payload) == LENGTHS[version] and payload[:2] == struct.pack("=H", version)


def _ac_pid(payload: bytes, version: int) -> bytes:
    # At 128, but v15 has a maximum and a minimum of three delays in front of it.
    at = 128 + 48 if version == 15 else 128
    return payload[at : at + 4]


def _struct_of(datagram: Datagram, version: int, sequence: int) -> tuple[int, bytes] | None:
    """Thread id and struct of a reply that is right in every way."""
    records = list(_body(datagram))
    if len(records) != 1 or records[0][0] != AGGR_PID:
        return None
    payload, identity = records[0][1][STATS], records[0][1][PID]
    if not _whole(payload, version) or _ac_pid(payload, version) != identity:
        return None
    if datagram.payload[8:12] != struct.pack("=I", sequence):
        return None
    return int.from_bytes(identity, "little"), payload


def _record_of(datagram: Datagram, version: int) -> tuple[int, bytes, int | None] | None:
    """Number, struct and ended process of an exit record that is right in every way."""
    records = list(_body(datagram))
    if [aggregate for aggregate, _ in records] not in ([AGGR_PID], [AGGR_PID, AGGR_TGID]):
        return None
    if any(not _whole(record[STATS], version) for _, record in records):
        return None
    identity, payload = records[0][1][PID], records[0][1][STATS]
    if _ac_pid(payload, version) != identity:
        return None
    process = None
    if len(records) == 2:
        if len(records[1][1][TGID]) != 4:
            return None
        process = int.from_bytes(records[1][1][TGID], "little")
    return int.from_bytes(datagram.payload[8:12], "little"), payload, process


def _error(datagram: Datagram) -> int | None:
    """The errno of an error message that answers one of the questions."""
    data = datagram.payload
    if datagram.sender or len(data) < 20:
        return None
    length, kind, _, sequence, _, code = struct.unpack_from("=IHHIIi", data)
    answers = kind == 2 and 20 <= length <= len(data) and -4096 < code < 0
    return -code if answers and FIRST <= sequence < FIRST + len(TIDS) else None
