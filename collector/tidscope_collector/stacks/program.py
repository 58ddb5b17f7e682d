"""The program that takes stacks (`stacks/`): starting it, and talking to it."""

import mmap
import os
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tidscope_confinement import capabilities
from tidscope_wire.readiness import is_readable

from tidscope_collector.ebpf.libbpf import BTF_KIND_FUNC
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, missing_in_kernel
from tidscope_collector.stacks.messages import MAX_MESSAGE

PROGRAM = Path(__file__).parent / "tidscope-stacks"
CAN_START = "The program that takes stacks can be started."
NO_STACKS = Obstacle(
    "this collector takes none", "Use the collector of `tidscope up` or `tidscope collect`."
)
_NOT_BUILT = Obstacle(
    "the program that takes them is not part of this installation",
    "Install Go 1.26 or newer and run `make stacks`.",
)
_TRIGGER = KernelFeature(
    "bpf_modify_return_test_tp", BTF_KIND_FUNC, "tracepoint that eBPF programs fire", "6.10"
)
_NEEDED = frozenset(
    {
        capabilities.BPF,
        capabilities.PERFMON,
        capabilities.SYS_PTRACE,
        capabilities.SYSLOG,  # addresses of the kernel's functions
        capabilities.CHECKPOINT_RESTORE,  # executables as they are mapped
    }
)
_SOCKET = 3
_BEGIN, _END = b"begin", b"end"
END_S = 5.0
"""Time that the program has to end in, in seconds; then it is killed."""


class StackProgram:
    """The started program. It costs nothing before it is asked to begin.

    Args:
        connection: SOCK_SEQPACKET socket to it.
        pid: its process ID.
    """

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self._sampling: mmap.mmap | None = None
        self._ended = False
        self.pid = pid

    def lend(self, maps: Sequence[int]) -> None:
        """Give it descriptors of the maps of the ledger's program; it waits for them.

        Args:
            maps: see `LedgerProgram.stack_maps`.

        Raises:
            OSError: it has ended.
        """
        socket.send_fds(self._connection, [b"maps"], list(maps))
        self._sampling = mmap.mmap(maps[0], mmap.PAGESIZE)

    def fileno(self) -> int:
        """Return the descriptor that is readable while there are messages."""
        return self._connection.fileno()

    def begin(self) -> None:
        """Let it take stacks. Raises OSError if it has ended, or reads nothing."""
        self._connection.send(_BEGIN, socket.MSG_DONTWAIT)

    def end(self) -> None:
        """Let it take no more stacks. Raises OSError if it has ended, or reads nothing."""
        self._connection.send(_END, socket.MSG_DONTWAIT)

    def receive(self) -> bytes:
        """Return the next message; empty once it has ended. Raises BlockingIOError without one."""
        try:
            return self._connection.recv(MAX_MESSAGE, socket.MSG_DONTWAIT)
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        """Let it end within `END_S`, and the ledger choose no more stays. Idempotent."""
        self._connection.close()
        if self._ended:
            return
        self._ended = True
        with suppress(ProcessLookupError):
            _wait_for_end(self.pid)
        with suppress(ProcessLookupError, PermissionError):
            # The worker is in its group, and lives only if both do not do what they should.
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        if self._sampling is not None:
            # Only the keeper does that for a worker that was killed.
            self._sampling[:8] = bytes(8)
            self._sampling.close()


def _wait_for_end(pid: int) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        is_readable(descriptor, END_S)
    finally:
        os.close(descriptor)


def obstacle(path: Path = PROGRAM) -> Obstacle | None:
    """Return why the program cannot be started; None if it can."""
    if not path.exists():
        return _NOT_BUILT
    missing = ", ".join(map(capabilities.capability_name, sorted(_NEEDED - capabilities.held())))
    if not missing:
        return None
    return Obstacle(f"they need {missing}", "Start the collector as root, with these capabilities.")


def without_ledgers(reason: str) -> Obstacle:
    """Return the obstacle to stacks where there are no ledgers, for a reason."""
    return Obstacle(f"they need ledgers of states: {reason}", "Doctor says what ledgers need.")


def outlook() -> str:
    """Return how a program that can be started will take stacks in this kernel; sentences."""
    reason = missing_in_kernel(_TRIGGER)
    if reason is None:
        return CAN_START
    return f"{CAN_START} It looks in windows of time, and not at who releases: {reason}."


def start_program(path: Path = PROGRAM) -> StackProgram | Obstacle:
    """Start the program; return why not otherwise. Call it before rights are given up."""
    if found := obstacle(path):
        return found
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        null = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        try:
            pid = os.posix_spawn(
                path,
                [path.name],
                {},
                file_actions=[null, (os.POSIX_SPAWN_DUP2, theirs.fileno(), _SOCKET)],
                setpgroup=0,  # signals of a terminal are the collector's
                setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE],
            )
        except OSError as error:
            ours.close()
            return Obstacle(f"{path} cannot be executed: {error.strerror}", "Run `make stacks`.")
    return StackProgram(ours, pid)
