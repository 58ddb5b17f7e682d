"""Affinity steering of a collector: recovers, steers one process, restores at SIGTERM.

`python affinity_collector.py LEASES PID SIZE` says "applied" and waits for its end.
"""

import signal
import sys
from pathlib import Path

from tidscope_collector.inspection.asking import about_process, children
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.affinity_leases import Leases
from tidscope_collector.steering.loop.cpu_masks import CpuShares
from tidscope_collector.steering.loop.go_affinity import open_go_affinity


def main() -> None:
    """Run until SIGTERM."""
    procfs = ProcFs()
    leases = Leases(procfs, Path(sys.argv[1]))
    leases.recover()
    pid = int(sys.argv[2])
    start_ticks = parse_stat(procfs.read(f"{pid}/stat")).start_ticks
    # The deadlines of questions leave no time for the start of the fork server.
    about = about_process(pid, start_ticks)
    children().ask("agent_socket", about, deadline_s=120, most_bytes=1 << 16)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    knob = open_go_affinity(procfs, pid, start_ticks, leases, CpuShares())
    try:
        knob.apply(int(sys.argv[3]))
        print("applied", flush=True)
        while True:
            signal.pause()
    finally:
        knob.close()


if __name__ == "__main__":
    main()
