"""`python -m tidscope_backend.demo`: about thirty threads that compute, write, talk and wait.

Uses well under half a core and a few MiB of unnamed files. Prints `ready` on standard output once
all threads run. Ends on SIGTERM or SIGINT, and with its parent.
"""

import argparse
import os
import signal
import socket
import sys
from functools import partial
from threading import Event, Lock, Thread

from tidscope_backend.demo import roles
from tidscope_backend.demo.requests_pool import requests
from tidscope_backend.demo.roles import set_name, start_thread
from tidscope_backend.processes import ParentExitedError, terminate_with_parent

JOIN_SECONDS = 2
ENDING = frozenset({signal.SIGTERM, signal.SIGINT})


def start_all(stop: Event, listener: socket.socket) -> list[Thread]:
    """Start every role."""
    address: tuple[str, int] = listener.getsockname()
    threads = [start_thread("net-server", partial(roles.net_server, stop, listener))]
    for n in range(1, 5):
        threads.append(start_thread(f"hash-worker-{n}", partial(roles.hash_worker, stop, n)))
    for n in range(1, 3):
        threads.append(start_thread(f"zip-worker-{n}", partial(roles.zip_worker, stop, n)))
        threads.append(start_thread(f"disk-writer-{n}", partial(roles.disk_writer, stop, n)))
    ledger = Lock()
    for n in range(1, 4):
        threads.append(start_thread(f"net-client-{n}", partial(roles.net_client, stop, address, n)))
        threads.append(start_thread(f"account-{n}", partial(roles.account, stop, ledger)))
    threads.append(start_thread("reader", partial(roles.reader, stop)))
    threads.append(start_thread("sleeper", partial(roles.sleeper, stop)))
    threads.append(start_thread(roles.STAGES[0], partial(roles.stage, stop)))
    threads.append(start_thread("clients", partial(requests, stop)))
    threads.append(start_thread("spawner", partial(roles.spawner, stop)))
    return threads


def main() -> int:
    """Run until a signal."""
    argparse.ArgumentParser(
        prog="python -m tidscope_backend.demo",
        description="A program with many threads to look at.",
    ).parse_args()
    stop = Event()
    try:
        terminate_with_parent(os.getppid())
    except ParentExitedError as error:
        print(error, file=sys.stderr)
        return 1
    # Block signals before any thread starts, so that all threads inherit the mask and `sigwait`
    # gets the signals. A handler that sets the event could run while this thread holds the event's
    # lock.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    set_name("tidscope-demo")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads = start_all(stop, listener)
        print("ready", flush=True)
        signal.sigwait(ENDING)
        stop.set()
        for thread in threads:
            thread.join(JOIN_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
