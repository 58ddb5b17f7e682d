"""Rows of the table `inexact`: counters of the kernel that cannot be, or that are lower bounds."""

import logging

import numpy as np
from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.catalogue import CATALOGUE

LOG = logging.getLogger(__name__)
_UNCOUNTED = ("net_read_bytes", "net_read_calls")
_PLACES = {field.name: place for place, field in enumerate(CATALOGUE.fields)}


def inexact_rows(native: Sampler, target: str) -> Table:
    """Return rows of counters that cannot be.

    Args:
        native: samples the target.
        target: target ID.
    """
    rows = [
        (tid, _PLACES[name], kernel, life_ns, name, "ledger" if by_ledger else "invalid")
        for tid, name, kernel, life_ns, by_ledger in native.inexact(target) or ()
    ]
    return np.array(rows, dtype_of("inexact"))


def uncounted_rows(native: Sampler, target: str) -> Table:
    """Return rows of threads that read TCP sockets by splice(), which eBPF could not count here."""
    try:
        found = native.uncounted_reads(target) or ()
    except OSError as error:
        LOG.warning("uncounted reads are not known: %s", error)
        found = ()
    rows = [
        (tid, _PLACES[name], count, max(1, life_ns), name, "at_least")
        for tid, count, life_ns in found
        for name in _UNCOUNTED
    ]
    return np.array(rows, dtype_of("inexact"))
