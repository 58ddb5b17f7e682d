"""A command in the terminal and the process group that it would have without us.

The terminal sends its signals (Ctrl-C, Ctrl-\\, Ctrl-Z, a new window size, the end of a
connection) to the whole foreground process group, so the command has them already. What somebody
sends to us alone, we pass on. When Ctrl-Z has stopped the command, we stop as well: the shell waits
for us, and continues both.
"""

import os
import signal
import termios
from contextlib import suppress
from pathlib import Path

from tidscope_backend.cli.signal_queue import ReceivedSignal

FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
    signal.SIGTSTP,
    signal.SIGCONT,
)


def pass_on(received: ReceivedSignal, pid: int) -> None:
    """Send a signal on to a child that was not waited for, unless it has it already."""
    if received.sender == pid:
        return  # It sent it to its process group, as editors do for Ctrl-Z.
    if received.number == signal.SIGCONT and not _is_stopped(pid):
        return  # A shell continues the whole process group.
    if received.from_kernel:
        # A shell that we run has groups of its own in the foreground, and learns of the end of its
        # terminal only as the leader of the session, which we may be in its place.
        other_group = os.getpgid(pid) != os.getpgrp()
        if received.number != signal.SIGHUP or not other_group:
            return
    os.kill(pid, received.number)


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def stop_with(pid: int) -> None:
    """Stop, until somebody continues us, if Ctrl-Z has stopped a child.

    A child that was stopped by SIGSTOP is recorded as it is.
    """
    try:
        stopped = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:  # It has exited: such a child cannot be waited for as one that stops.
        return
    if stopped is None or stopped.si_status != signal.SIGTSTP:
        return
    # The kernel ignores it where no shell could continue us (an orphaned process group).
    os.kill(os.getpid(), signal.SIGTSTP)
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


class TerminalModes:
    """The modes of our terminal, if there is one and we are in its foreground."""

    def __init__(self) -> None:
        self._terminal = next(filter(_is_foreground, range(3)), None)
        self._modes = None if self._terminal is None else termios.tcgetattr(self._terminal)

    def restore(self) -> None:
        """Set them again, and be in the foreground again.

        A shell does so for a job that a signal has killed. It does not learn of that: it sees our
        exit code only.
        """
        if self._terminal is None or self._modes is None:
            return
        # Who is not in the foreground would be stopped for this.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with suppress(OSError, termios.error):
            os.tcsetpgrp(self._terminal, os.getpgrp())
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_foreground(descriptor: int) -> bool:
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
