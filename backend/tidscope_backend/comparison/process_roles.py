"""Roles of a run split by the names of the processes that their threads are of. Pure."""

import pyarrow as pa


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
