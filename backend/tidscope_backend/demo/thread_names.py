"""Names that the kernel knows, so that every tool shows them."""

import threading
from collections.abc import Callable
from pathlib import Path

MAX_COMM_BYTES = 15


def set_name(name: str) -> None:
    """Name the calling thread (proc(5): /proc/self/task/TID/comm)."""
    comm = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    comm.write_bytes(name.encode()[:MAX_COMM_BYTES])


def start_thread(name: str, work: Callable[[], object]) -> threading.Thread:
    """Start a thread that bears its name from its first instruction of work."""

    def named() -> None:
        set_name(name)
        work()

    thread = threading.Thread(target=named, name=name, daemon=True)
    thread.start()
    return thread
