"""Bytes of generic netlink taskstats messages: building requests, walking one reply strictly.

Source: include/uapi/linux/{netlink,genetlink,taskstats}.h; kernel/taskstats.c.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal

NLMSG_ERROR = 2
NLMSG_OVERRUN = 4
NLM_F_REQUEST = 1
NLM_F_ACK = 4
CMD_GET = 1
CMD_NEW = 2
ATTR_PID = 1
ATTR_REGISTER_CPUMASK = 3
ATTR_DEREGISTER_CPUMASK = 4
TYPE_PID = 1
TYPE_TGID = 2
TYPE_STATS = 3
TYPE_AGGR_PID = 4
TYPE_AGGR_TGID = 5
NLMSG_HEADER = struct.Struct("=IHHII")
GENL_HEADER = struct.Struct("=BBH")
ATTR_HEADER = struct.Struct("=HH")
REQUEST_BYTES = NLMSG_HEADER.size + GENL_HEADER.size + ATTR_HEADER.size + 4
_NESTED_BITS = 0xC000
_MAX_ERRNO = 4095


@dataclass(frozen=True)
class Record:
    """One AGGR attribute of a reply.

    Attributes:
        kind: TYPE_AGGR_PID or TYPE_AGGR_TGID.
        id: thread id or process id.
        offset: where struct taskstats starts in the datagram, bytes.
        length: its length, bytes.
    """

    kind: int
    id: int
    offset: int
    length: int


def command(family: int, attribute: int, payload: bytes, sequence: int) -> bytes:
    """A taskstats command with one attribute, asking for an acknowledgement."""
    padded = payload + b"\0" * (-len(payload) % 4)
    attr = ATTR_HEADER.pack(ATTR_HEADER.size + len(payload), attribute) + padded
    length = NLMSG_HEADER.size + GENL_HEADER.size + len(attr)
    flags = NLM_F_REQUEST | NLM_F_ACK
    header = NLMSG_HEADER.pack(length, family, flags, sequence, 0)
    return header + GENL_HEADER.pack(CMD_GET, 1, 0) + attr


def error_code(datagram: bytes) -> int | None:
    """The errno of an NLMSG_ERROR (0 = acknowledged), or None if it is another message."""
    if len(datagram) < NLMSG_HEADER.size + 4:
        return None
    length, kind, _, _, _ = NLMSG_HEADER.unpack_from(datagram)
    if kind != NLMSG_ERROR or not NLMSG_HEADER.size + 4 <= length <= len(datagram):
        return None
    (code,) = struct.unpack_from("=i", datagram, NLMSG_HEADER.size)
    return -int(code) if -_MAX_ERRNO <= code <= 0 else None


def attributes(datagram: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Walk attributes; yields type, start and end of each payload.

    Raises:
        MalformedReplyError: an attribute reaches beyond its container.
    """
    at = start
    while at + ATTR_HEADER.size <= end:
        length, kind = ATTR_HEADER.unpack_from(datagram, at)
        if length < ATTR_HEADER.size or at + length > end:
            raise MalformedReplyError(
                Refusal.ATTRIBUTE, f"{length} bytes at {at}, the container ends at {end}"
            )
        yield kind & ~_NESTED_BITS, at + ATTR_HEADER.size, at + length
        at += -(-length // 4) * 4
    if at < end:
        raise MalformedReplyError(Refusal.ATTRIBUTE, f"{end - at} stray bytes behind the last")


def parse(datagram: bytes, family: int) -> list[Record]:
    """Find the records of a reply or an exit message. Unknown attributes are passed over.

    Raises:
        MalformedReplyError: it is not a whole TASKSTATS_CMD_NEW message.
    """
    head = NLMSG_HEADER.size + GENL_HEADER.size
    if len(datagram) < NLMSG_HEADER.size:
        raise MalformedReplyError(Refusal.SHORT, f"{len(datagram)} bytes")
    length, kind, _, _, _ = NLMSG_HEADER.unpack_from(datagram)
    if kind == NLMSG_OVERRUN:
        raise MalformedReplyError(Refusal.OVERRUN, "the kernel reports that data was lost")
    if kind != family:
        raise MalformedReplyError(Refusal.TYPE, f"{kind} instead of {family}")
    if length != len(datagram):
        raise MalformedReplyError(Refusal.LENGTH, f"{length}, and has {len(datagram)}")
    if length < head:
        raise MalformedReplyError(Refusal.SHORT, f"{length} bytes")
    if datagram[NLMSG_HEADER.size] != CMD_NEW:
        raise MalformedReplyError(Refusal.COMMAND, str(datagram[NLMSG_HEADER.size]))
    records = [
        _record(datagram, aggregate, start, end)
        for aggregate, start, end in attributes(datagram, head, len(datagram))
        if aggregate in (TYPE_AGGR_PID, TYPE_AGGR_TGID)
    ]
    if not records:
        raise MalformedReplyError(Refusal.CONTENT, "no statistics")
    return records


def _record(datagram: bytes, aggregate: int, start: int, end: int) -> Record:
    wanted = TYPE_PID if aggregate == TYPE_AGGR_PID else TYPE_TGID
    found: dict[int, tuple[int, int]] = {}
    for kind, inner_start, inner_end in attributes(datagram, start, end):
        if kind in found and kind in (wanted, TYPE_STATS):
            raise MalformedReplyError(Refusal.CONTENT, f"attribute {kind} twice in a record")
        found[kind] = (inner_start, inner_end)
    identity, stats = found.get(wanted), found.get(TYPE_STATS)
    if identity is None or stats is None or identity[1] - identity[0] != 4:
        raise MalformedReplyError(Refusal.CONTENT, "a record without id or statistics")
    (number,) = struct.unpack_from("=I", datagram, identity[0])
    return Record(aggregate, number, stats[0], stats[1] - stats[0])
