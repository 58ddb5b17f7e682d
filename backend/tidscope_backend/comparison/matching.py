"""Roles of different runs matched for a comparison, optionally split by process name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.generated.models import MatchedRole

from tidscope_backend.comparison.sides import ComparisonError


class Correction(NamedTuple):
    """Manual match: a role of a run gets this label in the comparison."""

    run: str
    role: str
    label: str


def parse_correction(text: str) -> Correction:
    """Parse `RUN:ROLE=LABEL`; a role may contain : and =, a label may not contain =.

    Raises:
        ComparisonError: the text has another form.
    """
    run, colon, rest = text.partition(":")
    role, sign, label = rest.rpartition("=")
    if not (run and colon and sign and role and label):
        raise ComparisonError(f"match {text!r} is not RUN:ROLE=LABEL")
    return Correction(run, role, label)


def match_roles(
    runs: Sequence[str], weights: Sequence[Mapping[str, int]], corrections: Sequence[Correction]
) -> list[MatchedRole]:
    """Match roles by name, with manual corrections.

    Args:
        runs: run IDs.
        weights: roles of each run with their weights for sorting.
        corrections: manual matches. A role of the same run that already has the label's name, and
            is not matched manually, gets another label.

    Returns:
        Each role of each run once, sorted by descending weight and label.

    Raises:
        ComparisonError: a correction names an unknown run or role, or gives two roles of one run
            the same label.
    """
    named = [
        _corrections_of(run, roles, corrections) for run, roles in zip(runs, weights, strict=True)
    ]
    strangers = {one.run for one in corrections} - set(runs)
    if strangers:
        raise ComparisonError(f"match names {min(strangers)}, which is not compared")
    found: dict[str, list[str | None]] = {}
    for place, roles in enumerate(weights):
        taken = set(named[place].values())
        for role in roles:
            label = named[place].get(role, role)
            if role not in named[place] and label in taken:
                label = _free(f"{role} (not matched)", roles)
            found.setdefault(label, [None] * len(runs))[place] = role
    weight: Counter[str] = Counter()
    for label, matched in found.items():
        for place, own in enumerate(matched):
            weight[label] += 0 if own is None else weights[place][own]
    manual = {label for labels in named for label in labels.values()}
    return [
        MatchedRole(label=label, roles=found[label], manual=label in manual)
        for label in sorted(found, key=lambda label: (-weight[label], label))
    ]


def _corrections_of(
    run: str, roles: Mapping[str, int], corrections: Sequence[Correction]
) -> dict[str, str]:
    """Return the manually matched roles of one run, with their labels."""
    labels: dict[str, str] = {}
    for one in corrections:
        if one.run != run:
            continue
        if one.role not in roles:
            raise ComparisonError(f"match names the role {one.role!r}, which {run} does not have")
        if one.label in labels.values() and labels.get(one.role) != one.label:
            raise ComparisonError(f"match gives two roles of {run} the label {one.label!r}")
        labels[one.role] = one.label
    return labels


def _free(label: str, taken: Mapping[str, int]) -> str:
    while label in taken:
        label += "'"
    return label


def split_by_process(threads: pa.Table, processes: pa.Table | None, lead: str) -> pa.Table:
    """Call each role "PROCESS → ROLE".

    A process has the last name in its row; a process without a row has the name of its main thread.
    Of several processes with a recycled ID, the last one counts.

    Args:
        threads: one row per life of a thread; in a group, `pid` is the process.
        processes: one row per process of a group, by process number; None for a single process.
        lead: name of the single process.

    Returns:
        Threads with split roles.
    """
    names: dict[int, str] = {}
    if "pid" in threads.column_names:
        rows = threads.select(["tid", "pid", "name"]).to_pydict()
        for tid, pid, name in zip(rows["tid"], rows["pid"], rows["name"], strict=True):
            if tid == pid:
                names[pid] = name
        pids = rows["pid"]
    else:
        pids = [None] * len(threads)
    if processes is not None:
        described = processes.select(["pid", "name"]).to_pydict()
        for pid, name in zip(described["pid"], described["name"], strict=True):
            if pid:
                names[pid] = name
    roles = threads.column("role").to_pylist()
    split = [f"{_name(pid, names, lead)} → {role}" for pid, role in zip(pids, roles, strict=True)]
    place = threads.column_names.index("role")
    return threads.set_column(place, "role", pa.array(split, pa.utf8()))


def _name(pid: int | None, names: dict[int, str], lead: str) -> str:
    if pid is None:
        return lead
    return names.get(pid) or "unknown"
