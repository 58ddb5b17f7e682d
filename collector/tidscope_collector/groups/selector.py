"""From what a person asked for to the processes of a group, and its name. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tidscope_wire.generated.limits import MAX_GROUP_PROCESSES
from tidscope_wire.generated.models import GroupKind, GroupSelector, Process
from tidscope_wire.groups import selector_text, tree_name
from tidscope_wire.problems import refusal
from tidscope_wire.redaction import redact

from tidscope_collector.groups.match import Match, parse_match
from tidscope_collector.processes.cgroup_names import names_of_cgroup

MembersOf = Callable[[str], Iterable[int]]
"""Ids of the processes in the control group of a path, and of those below it."""
_ID_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Selection:
    """A group, found.

    Attributes:
        kind: what makes processes belong to it.
        value: as it was asked for, what looks like a secret left out; None for a tree.
        name: as shown.
        lead: the root of a tree, else the oldest process.
        pids: ids of its processes now.
        cgroup: path of its control group; None for a tree and a match.
        match: the expression; None for other kinds.
    """

    kind: GroupKind
    value: str | None
    name: str
    lead: Process
    pids: frozenset[int]
    cgroup: str | None = None
    match: Match | None = None


def select(
    selector: GroupSelector, processes: Sequence[Process], members_of: MembersOf
) -> Selection:
    """Find the processes of a group.

    Args:
        selector: what was asked for.
        processes: all of the host, as they are listed.
        members_of: looks at control groups.

    Raises:
        ProblemError: the selector is incomplete or cannot be read, no process that can be attached
            to is in the group, or too many are.
    """
    listed = {one.pid: one for one in processes}
    if selector.kind == "tree":
        return _tree(selector, listed)
    if selector.value is None or selector.pid is not None or selector.start_ticks is not None:
        raise refusal(
            "bad-group",
            f"a group of kind {selector.kind} has a value, and no process id",
            "Give the value alone.",
        )
    if selector.kind == "match":
        match = parse_match(selector.value)
        return _of(selector, (one for one in processes if match.holds(one)), match=match)
    cgroup = _cgroup(selector.kind, selector.value, processes)
    if cgroup is None:
        raise _empty(selector)
    pids = set(members_of(cgroup))
    return _of(selector, (one for one in processes if one.pid in pids), cgroup=cgroup)


def _tree(selector: GroupSelector, listed: Mapping[int, Process]) -> Selection:
    if selector.pid is None or selector.value is not None:
        raise refusal(
            "bad-group", "a tree has the process id of its root, and no value", "Give the id alone."
        )
    root = listed.get(selector.pid)
    if root is None:
        raise refusal(
            "unknown-process", f"no process has the id {selector.pid}", "Pick one that is running."
        )
    if selector.start_ticks not in (None, root.start_ticks):
        raise refusal(
            "process-id-reused",
            f"process {selector.pid} is another one now",
            "Look at the list of processes again.",
        )
    pids = descendants(listed, root.pid)
    return _of(selector, (listed[pid] for pid in pids), lead=root)


def _of(
    selector: GroupSelector,
    found: Iterable[Process],
    *,
    lead: Process | None = None,
    cgroup: str | None = None,
    match: Match | None = None,
) -> Selection:
    members = [one for one in found if one.refusal is None]
    if lead is not None and lead.refusal is not None:
        raise refusal("empty-group", lead.refusal.detail, lead.refusal.hint)
    if not members:
        raise _empty(selector)
    if len(members) > MAX_GROUP_PROCESSES:
        raise refusal(
            "group-too-large",
            f"{len(members)} processes are {selector_text(selector)}; "
            f"a target has {MAX_GROUP_PROCESSES} at most",
            "Choose a smaller group.",
        )
    oldest = lead or min(members, key=lambda one: (one.start_ticks, one.pid))
    pids = frozenset(one.pid for one in members)
    value = None if selector.value is None else redact(selector.value)
    name = group_name(selector.kind, value, oldest)
    return Selection(selector.kind, value, name, oldest, pids, cgroup, match)


def group_name(kind: GroupKind, value: str | None, lead: Process) -> str:
    """A group's name as shown.

    Args:
        kind: of the group.
        value: of its selector.
        lead: its lead process, whose command line is part of a tree's name.
    """
    match kind:
        case "tree":
            return tree_name(lead.command or lead.name)
        case "container":
            return f"container {_short(value or '')}"
        case "pod":
            known = lead.container and lead.container.pod_name
            return f"pod {known or value}"
        case "cgroup" | "unit":
            return value or ""
        case "match":
            return f"all that match {value}"
        case _:
            assert_never(kind)


def _short(name: str) -> str:
    """An id as people know it: its first 12 digits."""
    is_id = len(name) == 64 and set(name) <= set("0123456789abcdef")
    return name[:_ID_DIGITS] if is_id else name


def descendants(listed: Mapping[int, Process], root: int) -> set[int]:
    """Ids of a process and of all that descend from it."""
    children: dict[int, list[int]] = {}
    for one in listed.values():
        if one.parent is not None:
            children.setdefault(one.parent, []).append(one.pid)
    found, waiting = set[int](), [root]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found


def _cgroup(kind: GroupKind, value: str, processes: Iterable[Process]) -> str | None:
    """The path of the control group that is meant; None: no process has such a one."""
    if kind == "cgroup":
        if not value.startswith("/") or ".." in value.split("/"):
            raise refusal(
                "bad-group",
                f"{value!r} is not a path below the cgroup mount",
                "It begins with a slash, such as /system.slice/cron.service.",
            )
        return "/" + "/".join(part for part in value.split("/") if part)
    unit = value if "." in value else f"{value}.service"
    paths = set[str]()
    for one in processes:
        names = names_of_cgroup(one.cgroup or "/")
        if kind == "unit" and names.unit is not None and names.unit.name == unit:
            paths.add(names.unit.cgroup)
        elif kind == "container" and names.container is not None:
            known = {names.container.id, names.container.id[:_ID_DIGITS], names.container.name}
            if one.container is not None:
                known.add(one.container.name)
            if value in known:
                paths.add(names.container.cgroup)
        elif kind == "pod" and names.container is not None and names.container.pod_cgroup:
            known = {names.container.pod}
            if one.container is not None:
                known.add(one.container.pod_name)
            if value in known:
                paths.add(names.container.pod_cgroup)
    if len(paths) > 1:
        raise refusal(
            "bad-group",
            f"{value} stands for {len(paths)} control groups: {', '.join(sorted(paths))}",
            "Name one of them by its path, as a group of kind cgroup.",
        )
    return next(iter(paths), None)


def _empty(selector: GroupSelector) -> Exception:
    return refusal(
        "empty-group",
        f"no process that can be attached to is now in the group: {selector_text(selector)}",
        "Look at the list of processes; a group is attached to while at least one of its "
        "processes runs.",
    )
