"""Which threads made reads that are not counted: their numbers are lower bounds."""

import logging
import time
from collections.abc import Callable

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.catalogue import CATALOGUE

from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.watched import Whose
from tidscope_collector.netacct.accounts import Accounts

LOG = logging.getLogger(__name__)
FIELDS = ("net_read_bytes", "net_read_calls")
START_SLACK_NS = 100_000_000
"""Starts in readings come from ages."""
_PLACES = {field.name: place for place, field in enumerate(CATALOGUE.fields)}


def uncounted_rows(
    accounts: Accounts, whose: Whose, start_of: Callable[[int], int | None]
) -> Table:
    """The rows of the table `inexact` for reads of TCP sockets by splice().

    Args:
        accounts: what counts network bytes.
        whose: the processes.
        start_of: of a living thread of them, CLOCK_MONOTONIC, nanoseconds; None: it has ended.
    """
    try:
        found = accounts.uncounted_reads(whose)
    except BpfError as error:
        LOG.warning("uncounted reads are not known: %s", error)
        found = {}
    now_ns = time.monotonic_ns()
    rows = []
    for tid, (began_ns, count) in found.items():
        start_ns = start_of(tid)
        if start_ns is not None and abs(start_ns - began_ns) <= START_SLACK_NS:
            life_ns = max(1, now_ns - began_ns)
            rows += [(tid, _PLACES[name], count, life_ns, name, "at_least") for name in FIELDS]
    return np.array(rows, dtype_of("inexact"))
