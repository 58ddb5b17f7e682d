"""Memory layout of a model: a page of metadata, followed by 16 tables of 1024 signed bytes.

The daemon creates the memory, maps it writable, and seals it: the size is fixed, and no further
writable mapping is possible (F_SEAL_FUTURE_WRITE, Linux 5.1). Clients receive the descriptor,
verify the seals so that reads cannot fail, and map it read-only. A weight is one byte and therefore
never half-written. Numbers are little-endian.
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
    """Counts since the creation of a model.

    Attributes:
        updates: learnt answers.
        hits: learnt answers that the model had predicted.
        undecided: learnt answers without a prediction, for a sum of 0.
        resets: partial and complete resets.
    """

    updates: int = 0
    hits: int = 0
    undecided: int = 0
    resets: int = 0


class Memory:
    """Mapped memory of a model.

    Args:
        descriptor: descriptor of the memory; the caller keeps ownership.
        writable: True for the daemon, before sealing.

    Attributes:
        weights: weights of all tables, as signed bytes.
    """

    def __init__(self, descriptor: int, *, writable: bool) -> None:
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._mapped = mmap.mmap(descriptor, SIZE, mmap.MAP_SHARED, access)
        self._bytes = memoryview(self._mapped)
        self.weights = self._bytes[WEIGHTS_AT:].cast("b")

    @property
    def rule(self) -> Rule:
        """Learning rule.

        Raises:
            ValueError: the memory is not a model of this version.
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
        """Counts since the model's creation."""
        return Counts(*_COUNTS.unpack_from(self._bytes, _COUNTS_AT))

    @counts.setter
    def counts(self, counts: Counts) -> None:
        _COUNTS.pack_into(self._bytes, _COUNTS_AT, *counts)

    @property
    def closed(self) -> bool:
        """True if the model was deleted or moved, so this mapping is stale."""
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
        """Mark the memory as stale; remaining readers get no predictions."""
        _CLOSED.pack_into(self._bytes, _CLOSED_AT, 1)
        self.clear()

    def close(self) -> None:
        """Unmap the memory. Idempotent."""
        self.weights.release()
        self._bytes.release()
        self._mapped.close()


def make_memory(rule: Rule) -> tuple[int, Memory]:
    """Make sealed memory with all weights 0. Return the caller's descriptor and the mapping.

    Raises:
        OSError: memory is exhausted, or the kernel cannot seal it.
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
    """Map a model read-only; the descriptor may be closed afterwards.

    Raises:
        ValueError: the memory is not a model, or its maker could still shrink it.
        OSError: the memory cannot be mapped.
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
