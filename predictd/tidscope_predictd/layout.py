"""A model in shared memory: a page that describes it, then 16 tables of 1024 signed bytes.

The daemon makes the memory, maps it writable, and seals it: it neither grows nor shrinks, and
nobody can map it writable any more (F_SEAL_FUTURE_WRITE, Linux 5.1). Clients get the descriptor,
see by the seals that reading can never fail, and map it read-only. A weight is one byte, so that
none is ever half written. Numbers are little-endian.
"""

import fcntl
import mmap
import os
import struct
from typing import NamedTuple

from tidscope_policies.perceptron import (
    ENTRIES,
    MAX_FEATURES,
    WEIGHTS,
    Rule,
    check_rule,
)

MAGIC = b"TIDSPRED"
VERSION = 1
WEIGHTS_AT = 4096
SIZE = WEIGHTS_AT + WEIGHTS

_DESCRIPTION = struct.Struct("<8sIIIIii")
_COUNTS_AT = 40
_COUNTS = struct.Struct("<QQQQ")
_CLOSED_AT = 32
_CLOSED = struct.Struct("<Q")

_F_ADD_SEALS, _F_GET_SEALS = 1033, 1034  # linux/fcntl.h
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_FUTURE_WRITE = 1, 2, 4, 16
_SEALS = _SEAL_SEAL | _SEAL_SHRINK | _SEAL_GROW | _SEAL_FUTURE_WRITE


class Counts(NamedTuple):
    """What happened to a model since it was made.

    Attributes:
        updates: answers learnt from.
        hits: those of them that the model had predicted.
        undecided: those that it had no prediction for, its sum being 0.
        resets: of parts or of all of it.
    """

    updates: int = 0
    hits: int = 0
    undecided: int = 0
    resets: int = 0


class Memory:
    """A model's memory, mapped.

    Args:
        descriptor: of the memory; stays the caller's.
        writable: for the daemon, before it is sealed.

    Attributes:
        weights: of all tables, as signed bytes.
    """

    def __init__(self, descriptor: int, *, writable: bool) -> None:
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._mapped = mmap.mmap(descriptor, SIZE, mmap.MAP_SHARED, access)
        self._bytes = memoryview(self._mapped)
        self.weights = self._bytes[WEIGHTS_AT:].cast("b")

    @property
    def rule(self) -> Rule:
        """How the model learns.

        Raises:
            ValueError: it is not a model of this version.
        """
        magic, version, tables, entries, at, threshold, limit = _DESCRIPTION.unpack_from(
            self._bytes
        )
        if magic != MAGIC or version != VERSION:
            raise ValueError("not a model, or one of another version")
        if (tables, entries, at) != (MAX_FEATURES, ENTRIES, WEIGHTS_AT):
            raise ValueError("a model of another shape")
        return check_rule(Rule(threshold, limit))

    @property
    def counts(self) -> Counts:
        """What happened to the model."""
        return Counts(*_COUNTS.unpack_from(self._bytes, _COUNTS_AT))

    @counts.setter
    def counts(self, counts: Counts) -> None:
        _COUNTS.pack_into(self._bytes, _COUNTS_AT, *counts)

    @property
    def closed(self) -> bool:
        """Whether nobody writes this memory any more: the model was deleted, or moved."""
        return _CLOSED.unpack_from(self._bytes, _CLOSED_AT) != (0,)

    def describe(self, rule: Rule) -> None:
        """Write the description."""
        _DESCRIPTION.pack_into(
            self._bytes, 0, MAGIC, VERSION, MAX_FEATURES, ENTRIES, WEIGHTS_AT, *rule
        )

    def clear(self) -> None:
        """Set all weights to 0."""
        self._bytes[WEIGHTS_AT:] = bytes(WEIGHTS)

    def retire(self) -> None:
        """Say that nobody writes it any more; those who still read it are undecided."""
        _CLOSED.pack_into(self._bytes, _CLOSED_AT, 1)
        self.clear()

    def close(self) -> None:
        """Unmap it; twice does no harm."""
        self.weights.release()
        self._bytes.release()
        self._mapped.close()


def make_memory(rule: Rule) -> tuple[int, Memory]:
    """New memory, all weights 0, sealed; its descriptor, which the caller owns, and the mapping.

    Raises:
        OSError: there is no memory, or the kernel cannot seal it.
    """
    descriptor = os.memfd_create("tidscope-model", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, SIZE)
        memory = Memory(descriptor, writable=True)
        memory.describe(rule)
        fcntl.fcntl(descriptor, _F_ADD_SEALS, _SEALS)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, memory


def map_memory(descriptor: int) -> Memory:
    """Map somebody else's model to read it; the descriptor may be closed afterwards.

    Raises:
        ValueError: it is not a model, or its maker could still cut it off.
        OSError: it cannot be mapped.
    """
    seals = fcntl.fcntl(descriptor, _F_GET_SEALS)
    if seals & _SEALS != _SEALS or os.fstat(descriptor).st_size != SIZE:
        raise ValueError("not the sealed memory of a model")
    memory = Memory(descriptor, writable=False)
    try:
        _ = memory.rule
    except ValueError:
        memory.close()
        raise
    return memory
