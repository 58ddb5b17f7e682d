"""Bytes of generic netlink taskstats messages: building requests, walking one reply strictly.

Source: include/uapi/linux/{netlink,genetlink,taskstats}.h; kernel/taskstats.c.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

NLMSG_ERROR = 2
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


class MalformedReplyError(Exception):
    """A datagram that is not what the kernel sends; the text says in what way."""


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
    _, kind, _, _, _ = NLMSG_HEADER.unpack_from(datagram)
    if kind != NLMSG_ERROR:
        return None
    (code,) = struct.unpack_from("=i", datagram, NLMSG_HEADER.size)
    return -int(code)


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
                f"attribute of {length} bytes at {at}, container ends at {end}"
            )
        yield kind & ~_NESTED_BITS, at + ATTR_HEADER.size, at + length
        at += -(-length // 4) * 4
    if at < end:
        raise MalformedReplyError(f"{end - at} stray bytes behind the last attribute")


def parse(datagram: bytes, family: int) -> list[Record]:
    """Find the records of a reply or an exit message.

    Raises:
        MalformedReplyError: it is not a whole TASKSTATS_CMD_NEW message.
    """
    head = NLMSG_HEADER.size + GENL_HEADER.size
    if len(datagram) < head:
        raise MalformedReplyError(f"{len(datagram)} bytes are no message")
    length, kind, _, _, _ = NLMSG_HEADER.unpack_from(datagram)
    if kind != family or length != len(datagram):
        raise MalformedReplyError(f"type {kind}, length {length} of {len(datagram)}")
    if datagram[NLMSG_HEADER.size] != CMD_NEW:
        raise MalformedReplyError(f"command {datagram[NLMSG_HEADER.size]}")
    records = []
    for aggregate, start, end in attributes(datagram, head, len(datagram)):
        if aggregate not in (TYPE_AGGR_PID, TYPE_AGGR_TGID):
            continue
        found: dict[int, tuple[int, int]] = {}
        for inner, inner_start, inner_end in attributes(datagram, start, end):
            found[inner] = (inner_start, inner_end)
        identity = found.get(TYPE_PID if aggregate == TYPE_AGGR_PID else TYPE_TGID)
        stats = found.get(TYPE_STATS)
        if identity is None or stats is None or identity[1] - identity[0] != 4:
            raise MalformedReplyError("an aggregate without id or statistics")
        (number,) = struct.unpack_from("=I", datagram, identity[0])
        records.append(Record(aggregate, number, stats[0], stats[1] - stats[0]))
    if not records:
        raise MalformedReplyError("no statistics in the message")
    return records
