"""Roles of different runs matched for a comparison, optionally split by process name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.generated.models import MatchedRole

from tidscope_backend.comparison.sides import ComparisonError


class Correction(NamedTuple):
    """A manual match: in this run, this role has this label in the comparison."""

    run: str
    role: str
    label: str


def parse_correction(text: str) -> Correction:
    """Parse `RUN:ROLE=LABEL`; a role may contain : and =, a label no =.

    Raises:
        ComparisonError: it is not of this form.
    """
    run, colon, rest = text.partition(":")
    role, sign, label = rest.rpartition("=")
    if not (run and colon and sign and role and label):
        raise ComparisonError(f"match {text!r} is not RUN:ROLE=LABEL")
    return Correction(run, role, label)


def match_roles(
    runs: Sequence[str], weights: Sequence[Mapping[str, int]], corrections: Sequence[Correction]
) -> list[MatchedRole]:
    """Match roles by name, and manually.

    Args:
        runs: ids.
        weights: for each run its roles, and how much each counts in their order.
        corrections: what a person said. A role that has the label's name in the same run, and that
            nobody named, stands for itself under another label then.

    Returns:
        Each role of each run once; those with the most weight first, then by label.

    Raises:
        ComparisonError: a correction names a run or a role that is not there, or two roles of one
            run are to be the same.
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
    """Role to label, as matched manually in one run."""
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

    A process is called as its row was last; one without a row as its main thread. Of several that
    had one id the last one counts.

    Args:
        threads: a row a thread's life; of a group with its process in `pid`.
        processes: a row a process of a group, by the order of their numbers; None: there is one.
        lead: name of that one.

    Returns:
        The threads, with other roles.
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
