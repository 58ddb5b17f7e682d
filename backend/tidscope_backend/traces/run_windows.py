"""Runs as sets of traces: when they were recorded, and which processes they are of."""

from collections.abc import Callable, Coroutine
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import RunManifest


class RunWindow(NamedTuple):
    """When a run was recorded, and of what.

    Attributes:
        since_ns: first frame, Unix nanoseconds.
        until_ns: last frame.
        processes: ids of its process, or of those of its group.
    """

    since_ns: int
    until_ns: int
    processes: tuple[int, ...]


FindRun = Callable[[str], Coroutine[None, None, RunWindow]]


def window_of(manifest: RunManifest, threads: pa.Table | None) -> RunWindow:
    """The window of a run.

    Args:
        manifest: of the run.
        threads: its thread table, if it is of a group; None: it is of a process.
    """
    began_ns = manifest.started_unix_us * 1000
    processes = {manifest.target.process.pid}
    if threads is not None and "pid" in threads.column_names:
        processes |= set(pc.unique(threads["pid"]).drop_null().to_pylist())
    return RunWindow(
        began_ns, began_ns + manifest.to_ns - manifest.from_ns, tuple(sorted(processes))
    )
