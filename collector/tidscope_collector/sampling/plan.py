"""Columns of a target's samples, and their sources."""

from typing import NamedTuple

from tidscope_wire.generated.models import AbsentField

Base = tuple[tuple[str, str], ...]
"""Names of columns, and of the member of struct taskstats or the key of /proc that each is."""


class Plan(NamedTuple):
    """The columns of a target.

    Attributes:
        base: columns of the source.
        fields: names of all columns: of the source, of the network, of the ledger.
        absent: further fields of the catalogue, with the reasons.
        delays_from_ns: CLOCK_MONOTONIC since when delays are counted; 0 if they are not.
        network: True if eBPF counts the network.
        walk: True if one call of the kernel may read all threads.
    """

    base: Base
    fields: tuple[str, ...]
    absent: tuple[AbsentField, ...]
    delays_from_ns: int
    network: bool
    walk: bool
