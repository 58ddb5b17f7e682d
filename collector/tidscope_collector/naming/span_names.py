"""Names that spans have for threads (OpenTelemetry's `thread.name`). Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

LONGEST_NAME = 128
"""Maximum length of a name, in characters. Longer ones are cut."""
Thread = tuple[int, int]
"""Process ID and thread ID."""


class LiveThread(NamedTuple):
    """A live thread of a target, as the sampler lists it.

    Attributes:
        tid: thread ID.
        process: process ID.
        start_ns: start, nanoseconds since attach.
        name: its name now.
        comm: name in the kernel.
    """

    tid: int
    process: int
    start_ns: int
    name: str
    comm: str


def names_to_give(
    threads: Iterable[LiveThread], spans: Mapping[Thread, str]
) -> list[tuple[int, str]]:
    """Return names of spans for threads that have none of their own in the kernel.

    A thread begins with the name of the one that started it, so by default all have the name of
    the process. The main thread keeps it: it stands for the process. A span says more than the
    function that a thread was started with.

    Args:
        threads: all live threads of a target.
        spans: names by thread, as they came.

    Returns:
        Thread IDs and names.
    """
    threads = list(threads)
    programs = {one.process: one.comm for one in threads if one.tid == one.process}
    found = []
    for one in threads:
        named = spans.get((one.process, one.tid))
        is_default = one.comm == programs.get(one.process)
        if named is None or one.tid == one.process or not is_default:
            continue
        if (name := plain(named)) and name != one.name:
            found.append((one.tid, name))
    return found


def plain(name: str) -> str:
    """Return a name without control characters, cut; empty if nothing is left."""
    shown = "".join(each if each.isprintable() else " " for each in name)
    return " ".join(shown.split())[:LONGEST_NAME].rstrip()
