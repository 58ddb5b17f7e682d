"""Threads that a runtime keeps for itself: none of them serves a request. Pure.

A Go program's monitor may wait in a run queue on a busy machine, a Java virtual machine compiles
and collects: by process this would count as time of every request under way. Names are as the
collector gives them (docs/decisions/0030) or as the kernel has them, at most 15 bytes.
"""

from collections.abc import Iterable, Mapping

GO = frozenset({"sysmon", "template thread"})
"""The collector finds these by their stacks; other threads of a Go program have its own name."""
HOTSPOT = (
    *("VM Thread", "VM Periodic Tas", "GC Thread#", "G1 ", "C1 CompilerThre", "C2 CompilerThre"),
    *("ZDirector", "ZDriver", "ZStat", "ZWorker", "ZUnmapper", "ZUncommitter", "Shenandoah "),
    *("Reference Handl", "Finalizer", "Signal Dispatch", "Service Thread", "Monitor Deflati"),
    *("Notification Th", "Common-Cleaner", "Attach Listener", "Sweeper thread"),
)
"""What names begin with (OpenJDK 11 to 25, src/hotspot/share)."""
HOTSPOT_HAS = "VM Periodic Tas"
"""Each virtual machine has this thread, and no other program's library names one so."""


def runtime_threads(names: Mapping[int, str], threads: Iterable[int]) -> set[int]:
    """Which threads of a process are its runtime's own.

    Args:
        names: of threads; some may have none.
        threads: of one process.
    """
    own = {tid: names.get(tid, "") for tid in threads}
    is_java = any(name.startswith(HOTSPOT_HAS) for name in own.values())
    return {
        tid for tid, name in own.items() if name in GO or (is_java and name.startswith(HOTSPOT))
    }
