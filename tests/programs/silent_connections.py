"""Opens connections that never send anything, as another user, and reopens what is closed.

Run as ``python silent_connections.py UID PORT COUNT``. It prints ``opened`` when it has opened
COUNT of them in all, held or not, and goes on until it is killed.
"""

import os
import resource
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

RESET = 1024
BATCH = 64
"""Connections that are opened one after another, before a pause."""
PAUSE_S = 0.02
REOPENING_PAUSE_S = 0.5
"""Pause between batches once all were opened: each reopened one costs the backend a refusal."""


@contextmanager
def silent_connections(uid: int, port: int, count: int) -> Iterator[None]:
    """Have them while in the context; all have been opened once when it is entered."""
    command = [sys.executable, __file__, str(uid), str(port), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "opened\n"
            yield
            assert process.poll() is None, "it has ended by itself"
        finally:
            process.kill()


def _connect(port: int, held: selectors.BaseSelector) -> None:
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    held.register(connection, selectors.EVENT_READ)


def main(uid: int, port: int, count: int) -> None:
    """Give up the rights, connect, and go on."""
    descriptors = count + 64
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    opened, said = 0, False
    with selectors.DefaultSelector() as held:
        while True:
            while len(held.get_map()) < count:
                _connect(port, held)
                opened += 1
                if opened % BATCH == 0:
                    # Needs descriptors, hardly any CPU.
                    time.sleep(REOPENING_PAUSE_S if said else PAUSE_S)
                    break
            if opened >= count and not said:
                print("opened", flush=True)
                said = True
            for key, _ in held.select(0 if len(held.get_map()) < count else None):
                connection = key.fileobj
                assert isinstance(connection, socket.socket)
                try:
                    ended = not connection.recv(RESET)
                except BlockingIOError:
                    continue
                except OSError:
                    ended = True
                if ended:
                    held.unregister(connection)
                    connection.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
