"""Which processes have an agent, found at little cost: by the sockets that listen.

An agent binds PID.sock.new and renames that (docs/agents.md); the kernel goes on to list the name
that was bound. Who really listens is checked when the socket is connected to.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import Process

from tidscope_collector.procfs.files import ProcFs

_MAX_BYTES = 4 << 20
_LISTENING = re.compile(
    rb"^\S+: [0-9A-F]+ [0-9A-F]+ 0001[0-9]{4} 0001 01 +\d+ /[^\n]*?/(\d{1,10})\.sock(?:\.new)?$",
    re.MULTILINE,
)


def with_agents(procfs: ProcFs, processes: Sequence[Process]) -> list[Process]:
    """Those of processes in whose network namespace a socket is called as that of their agent."""
    # The table of a namespace has a number of its own; the namespace itself may not be looked at.
    listening: dict[int, frozenset[int]] = {}
    found = []
    for one in processes:
        try:
            namespace = Path(procfs.path(f"{one.pid}/net/unix")).stat().st_ino
            if namespace not in listening:
                listening[namespace] = _sockets(procfs, one.pid)
        except OSError:
            continue
        if (one.namespace_pid or one.pid) in listening[namespace]:
            found.append(one)
    return found


def _sockets(procfs: ProcFs, pid: int) -> frozenset[int]:
    table = procfs.read(f"{pid}/net/unix", _MAX_BYTES)
    return frozenset(int(name) for name in _LISTENING.findall(table))
