"""Runs one reader as another user and prints it as JSON.

Everything is imported before the rights are given up, since that user may not be able to read
this repository. As a module: ``see(uid, "identify", PID)``.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

# Needed when run as a script.
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from frame_queues import TakenFrames
from tidscope_collector.confinement.children import LimitedChildren
from tidscope_collector.confinement.fork_server import serve
from tidscope_collector.doctor.facts import gather_facts
from tidscope_collector.ebpf import libbpf
from tidscope_collector.inspection.answering import Places
from tidscope_collector.inspection.gomaxprocs import open_gomaxprocs
from tidscope_collector.inspection.process_files import hold_proc
from tidscope_collector.inspection.questions import questions
from tidscope_collector.netacct.choice import NetworkSource
from tidscope_collector.processes.identity import Absence, identify
from tidscope_collector.processes.listing import ProcessLister
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.targets import sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.taskstats.link import TaskstatsUnavailableError
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.frame import FrameDecoder

_PR_SET_DUMPABLE = 4


def _identify(procfs: ProcFs, pid: int) -> Any:
    found = identify(procfs, pid)
    return found.name if isinstance(found, Absence) else asdict(found)


def _read(procfs: ProcFs, pid: int) -> Any:
    """One frame of a collector without taskstats."""
    with patch.object(sources, "probe", side_effect=TaskstatsUnavailableError("a test")):
        made = sources.Sources(procfs, network="none", ledger=LedgerOptions("off"))
    frames = TakenFrames(made.native)
    engine = Engine(made.native, lambda _: None)
    engine.start()
    targets = TargetRegistry("h-000000000000", procfs, made, engine)
    target, _ = targets.attach(pid, None, 10)
    _, rows = FrameDecoder().decode(frames.get(60))
    engine.stop()
    made.close()
    return {
        "fields": target.fields,
        "absent": {absent.field: absent.reason for absent in target.absent},
        "tids": rows.tid.tolist(),
        "counters": list(
            zip(*(rows.columns[name].tolist() for name in target.fields), strict=True)
        ),
    }


def _start_ticks(procfs: ProcFs, pid: int) -> int:
    return parse_stat(procfs.read(f"{pid}/stat")).start_ticks


def _gomaxprocs(procfs: ProcFs, pid: int) -> Any:
    found = open_gomaxprocs(pid, _start_ticks(procfs, pid))
    return {"value": found.reader and found.reader.read(), "reason": found.reason}


def _processes(procfs: ProcFs, pid: int) -> Any:
    listed = ProcessLister(procfs).processes()
    return [process.model_dump() for process in listed if process.pid == pid]


def _facts(procfs: ProcFs, _: int) -> Any:
    facts = asdict(gather_facts(procfs))
    return facts | {"capabilities": sorted(facts["capabilities"])}


def _network(procfs: ProcFs, _: int) -> Any:
    source = NetworkSource("ebpf", None, procfs)
    source.close()
    return source.description


READERS: dict[str, Callable[[ProcFs, int], Any]] = {
    "identify": _identify,
    "read": _read,
    "gomaxprocs": _gomaxprocs,
    "processes": _processes,
    "facts": _facts,
    "network": _network,
}


def see(
    uid: int, what: str, pid: int = 0, *, root: Path = Path("/proc"), within: Sequence[str] = ()
) -> Any:
    """Run a reader as a user.

    Args:
        uid: 0 keeps the rights.
        what: name of the reader in READERS.
        pid: process to read.
        root: root of /proc.
        within: a command that runs its arguments somewhere else, such as ["unshare", "--net"].
    """
    done = subprocess.run(
        [*within, sys.executable, __file__, str(uid), what, str(pid), str(root)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _fork(_: LimitedChildren, connection: socket.socket) -> int:
    """A fork server that needs no file any more, as one that is executed would."""
    process = os.fork()
    if process == 0:
        try:
            os.chdir(hold_proc(sys.argv[4], made=False))
            serve(connection, questions(Places()))
        finally:
            os._exit(0)
    return process


def main(arguments: Sequence[str]) -> None:
    """Become the user, gather_facts, print."""
    uid, what, pid, root = int(arguments[0]), arguments[1], int(arguments[2]), Path(arguments[3])
    libbpf.library()
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # Else its own /proc files would belong to root, unlike those of a program that user starts.
        if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0) != 0:
            raise OSError("prctl")
    with patch.object(LimitedChildren, "_launch", _fork):
        print(json.dumps(READERS[what](ProcFs(root), pid)))


if __name__ == "__main__":
    main(sys.argv[1:])
