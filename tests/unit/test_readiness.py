"""Waiting for a descriptor."""

import fcntl
import os

from tidscope_wire.readiness import is_readable

ABOVE_SELECT = 1024


def test_a_descriptor_that_select_does_not_know() -> None:
    reader, writer = os.pipe()
    high = fcntl.fcntl(reader, fcntl.F_DUPFD_CLOEXEC, ABOVE_SELECT)
    try:
        assert not is_readable(high)
        os.write(writer, b"x")
        assert is_readable(high, 60)
    finally:
        for descriptor in (reader, writer, high):
            os.close(descriptor)


def test_a_process_that_has_ended() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    descriptor = os.pidfd_open(pid)
    try:
        assert is_readable(descriptor, 60)
    finally:
        os.close(descriptor)
        os.waitpid(pid, 0)
