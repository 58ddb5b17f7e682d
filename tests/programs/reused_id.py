"""Ends a process and gives its id to another one while the mask of its threads is being set.

To be run in a process id namespace of its own, where nobody else takes ids: says the CPUs that the
other one may use afterwards, and how many masks were set.
"""

import os
import signal
import time
from pathlib import Path

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.cpu_masks import Cpus, ThreadMask, set_masks


def sleeper() -> int:
    """A process that does nothing."""
    process = os.fork()
    if process == 0:
        while True:
            signal.pause()
    return process


def main() -> None:
    """Reuse an id at the worst moment."""
    procfs = ProcFs()
    first = sleeper()
    start_ticks = parse_stat(procfs.read(f"{first}/stat")).start_ticks

    def exchange(mask: ThreadMask) -> Cpus | None:
        if mask.start_ticks != start_ticks:
            return None
        os.kill(first, signal.SIGKILL)
        os.waitpid(first, 0)
        # Process starts are counted in ticks of 10 ms.
        time.sleep(0.03)
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(first - 1))
        assert sleeper() == first
        return frozenset({min(os.sched_getaffinity(0))})

    try:
        changed = set_masks(procfs, first, start_ticks, exchange)
    except ProcessLookupError:
        changed = 0
    print(sorted(os.sched_getaffinity(first)) == sorted(os.sched_getaffinity(0)), changed)
    os.kill(first, signal.SIGKILL)


if __name__ == "__main__":
    main()
