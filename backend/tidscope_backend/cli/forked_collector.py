"""A collector as a forked child: it shares the libraries that this process has loaded.

Loading them is most of what a collector's start costs. What it runs is the program that
`collector_command` starts, in a process of its own; nothing of it is imported here.
"""

import os
import runpy
import select
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, NoReturn

from tidscope_backend.cli.collector_command import PACKAGE
from tidscope_backend.parent_death import terminate_with_parent

END_SECONDS = 15.0


class ForkedCollector:
    """The process.

    Args:
        arguments: of the collector.

    Attributes:
        pid: process id.
        pidfd: readable once it has exited.
    """

    def __init__(self, arguments: list[str]) -> None:
        descriptor, name = tempfile.mkstemp(prefix="tidscope-")
        Path(name).unlink()
        self._output: IO[bytes] = os.fdopen(descriptor, "r+b")
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _run(parent, arguments, self._output.fileno())
        self.pidfd = os.pidfd_open(self.pid)

    def output(self) -> str:
        """What it has written."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace").strip()

    def exited(self) -> bool:
        """Whether it has exited by itself."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def stop(self) -> None:
        """End it and wait for that."""
        os.kill(self.pid, signal.SIGTERM)
        if not select.select([self.pidfd], [], [], END_SECONDS)[0]:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        self._output.close()


def _run(parent: int, arguments: list[str], output: int) -> NoReturn:
    """In the child: become the collector."""
    code = 1
    try:
        terminate_with_parent(parent)
        # Ctrl-C is for the command; we end this ourselves.
        os.setsid()
        with Path(os.devnull).open("rb") as empty:
            os.dup2(empty.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        # Not the pipes of a command that is held meanwhile: it has to see when they are closed.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # Not what is buffered in ours: that is the parent's to write.
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.argv = [PACKAGE, *arguments]
        runpy.run_module(PACKAGE, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as exited:
        code = exited.code if isinstance(exited.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
