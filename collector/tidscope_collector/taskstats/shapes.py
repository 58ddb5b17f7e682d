"""What all messages of one kind have in common, so that a batch is checked without a loop.

The first message of a kind is walked strictly; its headers (lengths, types, command) and the places
of id and struct make a shape. A later message is accepted if every word of its headers is the same.
Kinds differ in more than one way: the last thread of a process has the process' record behind its
own, and where the kernel aligns to 8 bytes it puts a pad before a struct only if it needs one there
(include/net/netlink.h: nla_need_padding_for_64bit).
"""

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.layout import Layout
from tidscope_collector.taskstats.messages import (
    ATTR_HEADER,
    GENL_HEADER,
    NLMSG_HEADER,
    TYPE_AGGR_PID,
    TYPE_AGGR_TGID,
    attributes,
    parse,
)
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal

SEQUENCE_WORD = 2
"""Where nlmsg_seq stands, in 32-bit words."""
_PORT_WORD = 3


@dataclass(frozen=True, eq=False)
class Shape:
    """One kind of message.

    Attributes:
        length: bytes.
        thread: offset of the thread id, bytes.
        stats: offset of the thread's struct taskstats, bytes.
        process: offset of the process id, bytes; None without a process' record.
        process_stats: offset of the process' struct taskstats, bytes; None likewise.
        places: intp[k], the words that are the same in all messages of this shape.
        values: uint32[k], what stands there.
    """

    length: int
    thread: int
    stats: int
    process: int | None
    process_stats: int | None
    places: npt.NDArray[np.intp]
    values: npt.NDArray[np.uint32]

    def fits(
        self, lengths: npt.NDArray[np.uint32], halves: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.bool_]:
        """Which datagrams are of this shape.

        Args:
            lengths: uint32[n], bytes received.
            halves: uint32[n, w], the datagrams; w words are enough for this shape or it fits none.
        """
        if self.length > 4 * halves.shape[1]:
            return np.zeros(len(lengths), np.bool_)
        fits: npt.NDArray[np.bool_] = (halves[:, self.places] == self.values).all(axis=1)
        fits &= lengths == self.length
        return fits


def learn(datagram: bytes, family: int, layout: Layout) -> Shape:
    """Learn the shape of a message.

    Raises:
        MalformedReplyError: it is not one thread's record in this layout, with or without its
            process' record behind it.
    """
    records = parse(datagram, family)
    kinds = [record.kind for record in records]
    if kinds not in ([TYPE_AGGR_PID], [TYPE_AGGR_PID, TYPE_AGGR_TGID]):
        raise MalformedReplyError(Refusal.CONTENT, f"records {kinds}")
    for record in records:
        (version,) = struct.unpack_from("=H", datagram.ljust(record.offset + 2), record.offset)
        if (version, record.length) != (layout.version, layout.length):
            raise MalformedReplyError(
                Refusal.LAYOUT,
                f"version {version} with {record.length} bytes instead of {layout.version} with "
                f"{layout.length}",
            )
    places = _header_words(datagram)
    words = np.frombuffer(datagram, np.uint32, len(datagram) // 4)
    return Shape(
        length=len(datagram),
        thread=records[0].id_offset,
        stats=records[0].offset,
        process=records[1].id_offset if len(records) > 1 else None,
        process_stats=records[1].offset if len(records) > 1 else None,
        places=places,
        values=words[places],
    )


def _header_words(datagram: bytes) -> npt.NDArray[np.intp]:
    head = NLMSG_HEADER.size + GENL_HEADER.size
    words = [word for word in range(head // 4) if word not in (SEQUENCE_WORD, _PORT_WORD)]
    for kind, start, end in attributes(datagram, head, len(datagram)):
        words.append((start - ATTR_HEADER.size) // 4)
        if kind in (TYPE_AGGR_PID, TYPE_AGGR_TGID):
            inner = attributes(datagram, start, end)
            words += [(at - ATTR_HEADER.size) // 4 for _, at, _ in inner]
    return np.array(words, np.intp)
