"""The agent: a thread that answers collectors at a socket."""

import atexit
import os
import socket
import threading
from pathlib import Path

from tidscope_agent.lease import Lease, NothingSteered, Steered
from tidscope_agent.protocol import LARGEST_SIZE
from tidscope_agent.server import Server
from tidscope_agent.socket_folder import listen

_running = threading.Lock()


class Agent:
    """A running agent, made by `start`; it listens until it is closed.

    Attributes:
        path: path of the socket.
    """

    def __init__(self, listener: socket.socket, path: Path, lease: Lease) -> None:
        self.path = path
        self._pid = os.getpid()
        self._lease = lease
        self._server = Server(listener, lease)
        self._thread = threading.Thread(target=self._server.run, name="tidscope-agent", daemon=True)
        self._thread.start()
        # A forked child lacks this thread and must not keep the socket open after the parent's end.
        os.register_at_fork(after_in_child=self._server.forget)
        atexit.register(self.close)

    @property
    def is_steered(self) -> bool:
        """True while a collector sets the size; the program should not change it meanwhile."""
        return self._lease.is_held

    def restart_search(self) -> None:
        """Tell collectors to forget what they learnt: the program entered a new phase."""
        self._server.restart_search()

    def close(self) -> None:
        """Restore the size and remove the socket. Idempotent."""
        atexit.unregister(self.close)
        if os.getpid() != self._pid or not self._thread.is_alive():
            return
        self._server.stop()
        self._thread.join()
        self.path.unlink(missing_ok=True)
        _running.release()


def start(pool: Steered | None = None, *, lower: int = 1, upper: int | None = None) -> Agent:
    """Let collectors read all pools and steer one. A program has one agent at most.

    Args:
        pool: pool to steer; collectors restore its current size. None to report pools only.
        lower: minimum size that collectors may set.
        upper: maximum size that collectors may set; by default the current size.

    Raises:
        NoSocketFolderError: there is no folder for the socket; see README.md.
        ValueError: the bounds do not hold the size.
        RuntimeError: an agent is already running.
    """
    steered: Steered = NothingSteered() if pool is None else pool
    size = steered.wanted
    upper = size if upper is None else upper
    if not 1 <= lower <= size <= upper <= LARGEST_SIZE:
        raise ValueError(f"the pool's size {size} is not within the bounds {lower} to {upper}")
    if not _running.acquire(blocking=False):
        raise RuntimeError("the agent of this program is already running")
    try:
        listener, path = listen(os.getpid())
        return Agent(listener, path, Lease(steered, lower, upper))
    except BaseException:
        _running.release()
        raise
