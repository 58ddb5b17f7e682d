"""Groups of thread states, natures of states, and shares of time. Pure.

The page has the same in frontend/src/stream/states.ts; tests/contract/state_groups.json holds both
to the same groups and natures.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.states import STATE_FIELDS

LABELS = {field.name: field.label for field in CATALOGUE.fields if field.name in STATE_FIELDS}


class StateGroup(NamedTuple):
    """Several states under one name.

    Attributes:
        id: short name.
        label: display name.
        fields: catalogue fields of the states.
    """

    id: str
    label: str
    fields: tuple[str, ...]


def _group(id: str, label: str, *states: str) -> StateGroup:
    return StateGroup(id, label, tuple(f"state_{state}_ns" for state in states))


GROUPS: tuple[StateGroup, ...] = (
    _group("running", "Running", "on_cpu"),
    _group("runnable", "Waiting for a CPU", "preempted", "woken"),
    _group("throttled", "Throttled by a CPU limit", "throttled"),
    _group("locks", "Locks", "futex"),
    _group(
        "disk",
        "Disk and files",
        *("file_read", "file_read_disk", "file_write", "file_write_disk"),
        *("file_sync", "file_sync_disk", "page_fault_disk"),
    ),
    _group(
        "network",
        "Network",
        *("socket_receive", "socket_send", "socket_accept", "socket_connect"),
    ),
    _group("pipes", "Pipes and events", "pipe"),
    _group("faults", "Page faults", "page_fault"),
    _group("other", "Other waits", "child", "io_uring", "stopped", "other_call", "other"),
    _group("polling", "Polling", "poll"),
    _group("sleep", "Sleeping", "sleep"),
)
"""Groups in display order, work first; each state is in exactly one."""
IDLE_STATES = ("poll", "sleep", "socket_accept", "child")
"""States of threads that have nothing to do."""
NATURES = ("running", "runnable", "blocked", "idle", "unknown")
"""Natures of states in display order: whether threads work, wait, or have nothing to do."""
_NATURES_OF_GROUPS = {
    "running": "running",
    "runnable": "runnable",
    "throttled": "runnable",
    # Totals do not tell threads at a lock from threads parked at a condition.
    "locks": "unknown",
}
"""Natures of groups in totals of threads; other groups are blocked, except idle states."""


def name_of_state(field: str) -> str:
    """Return the state of a field: `futex` for `state_futex_ns`."""
    return field.removeprefix("state_").removesuffix("_ns")


def nature_of_state(group: StateGroup, field: str) -> str:
    """Return the nature of a group's state in totals of threads."""
    if name_of_state(field) in IDLE_STATES:
        return "idle"
    return _NATURES_OF_GROUPS.get(group.id, "blocked")


def fields_of_natures() -> dict[str, tuple[str, ...]]:
    """Return state fields by nature; each state has exactly one."""
    natures = {field: nature_of_state(group, field) for group in GROUPS for field in group.fields}
    return {one: tuple(field for field, its in natures.items() if its == one) for one in NATURES}


def shares_of_time(totals: Mapping[str, int]) -> dict[str, float]:
    """Return shares of the threads' lifetime by state field; empty without a ledger.

    Args:
        totals: nanoseconds by field; other fields are ignored.
    """
    known = {field: totals[field] for field in STATE_FIELDS if field in totals}
    whole = sum(known.values())
    return {field: ns / whole for field, ns in known.items()} if whole else {}


def shares_of_groups(totals: Mapping[str, int]) -> dict[StateGroup, float]:
    """Return non-zero shares of time by group, largest first."""
    shares = shares_of_time(totals)
    found = {group: sum(shares.get(field, 0) for field in group.fields) for group in GROUPS}
    ordered = sorted(found.items(), key=lambda one: -one[1])
    return {group: share for group, share in ordered if share}
