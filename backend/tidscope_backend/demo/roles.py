"""Functions of the demo's threads, one per role. All stop soon after `stop` is set."""

import hashlib
import math
import os
import select
import socket
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Lock

KIB = 1024
BLOCK = bytes(range(256)) * 64
MAX_FILE_BYTES = 4 * KIB * KIB
STAGES = ("stage-load", "stage-parse", "stage-store")


def hash_worker(stop: Event, number: int) -> None:
    """Hash in waves; the hash of a large block runs without the interpreter's lock."""
    work_in_waves(
        stop,
        partial(hashlib.blake2b, BLOCK),
        share=0.1,
        period=20 + 3 * number,
        phase=number / 4,
    )


def zip_worker(stop: Event, number: int) -> None:
    """Compress in waves."""
    work_in_waves(
        stop,
        partial(zlib.compress, BLOCK, 1),
        share=0.06,
        period=11 + 4 * number,
        phase=number / 2,
    )


def disk_writer(stop: Event, number: int) -> None:
    """Overwrite one unnamed file of bounded size, and sync it about once a second."""
    with tempfile.TemporaryFile() as file:
        for turn in count():
            for _ in range(1 + round(7 * wave(time.monotonic(), 17, number / 3))):
                file.write(BLOCK)
            if file.tell() >= MAX_FILE_BYTES:
                file.seek(0)
            if turn % 10 == 9:
                file.flush()
                os.fsync(file.fileno())
            if pause(stop, 0.1):
                return


def reader(stop: Event) -> None:
    """Read one unnamed file repeatedly."""
    with tempfile.TemporaryFile() as file:
        file.write(BLOCK * 16)
        file.flush()
        size = file.tell()
        while not pause(stop, 0.1):
            for _ in range(round(6 * wave(time.monotonic(), 13, 0))):
                os.pread(file.fileno(), size, 0)


def net_server(stop: Event, listener: socket.socket) -> None:
    """Echo all input, for all clients in one thread."""
    listener.setblocking(False)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    clients: dict[int, socket.socket] = {}
    while not stop.is_set():
        for descriptor, _ in poll.poll(500):
            if descriptor == listener.fileno():
                client, _ = listener.accept()
                clients[client.fileno()] = client
                poll.register(client, select.POLLIN)
                continue
            client = clients[descriptor]
            try:
                data = client.recv(64 * KIB)
                if data:
                    client.sendall(data)
            except OSError:
                data = b""
            if not data:
                poll.unregister(client)
                clients.pop(descriptor).close()
    for client in clients.values():
        client.close()


def net_client(stop: Event, address: tuple[str, int], number: int) -> None:
    """Send blocks to the server and read them back, until the server ends."""
    with suppress(ConnectionError), socket.create_connection(address, timeout=5) as server:
        while not pause(stop, 0.1):
            for _ in range(round(5 * wave(time.monotonic(), 23, number / 3))):
                server.sendall(BLOCK)
                missing = len(BLOCK)
                while missing:
                    data = server.recv(missing)
                    if not data:
                        return
                    missing -= len(data)


def sleeper(stop: Event) -> None:
    """Sleep, as most threads of most programs do."""
    stop.wait()


def account(stop: Event, ledger: Lock) -> None:
    """Hold one lock half of the time. Two other threads do the same, so the lock is contended."""
    while not stop.is_set():
        with ledger:
            pause(stop, 0.02)
        pause(stop, 0.02)


def stage(stop: Event) -> None:
    """Run one thread that takes another name for each stage of its work."""
    for turn in count():
        set_name(STAGES[turn % len(STAGES)])
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            hashlib.blake2b(BLOCK).digest()
        if stop.wait(4):
            return


def spawner(stop: Event) -> None:
    """Start short-lived threads, two a second."""

    def task(seconds: float) -> None:
        until = time.thread_time() + 0.005
        while time.thread_time() < until:
            hashlib.blake2b(BLOCK).digest()
        pause(stop, seconds)

    for number in count(1):
        start_thread(f"task-{number}", partial(task, 0.2 * (number % 6)))
        if stop.wait(0.5):
            return


MAX_COMM_BYTES = 15


def set_name(name: str) -> None:
    """Name the calling thread (proc(5): /proc/self/task/TID/comm)."""
    comm = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    comm.write_bytes(name.encode()[:MAX_COMM_BYTES])


def start_thread(name: str, work: Callable[[], object]) -> threading.Thread:
    """Start a thread that is named before its work begins."""

    def named() -> None:
        set_name(name)
        work()

    thread = threading.Thread(target=named, name=name, daemon=True)
    thread.start()
    return thread


SLOT_SECONDS = 0.1


def wave(seconds: float, period: float, phase: float) -> float:
    """Return a value from 0 to 1 that oscillates once per period; phase is in turns."""
    return (1 - math.cos(2 * math.pi * (seconds / period + phase))) / 2


def pause(stop: Event, seconds: float) -> bool:
    """Sleep for a short time; waiting for the event would appear as waiting for a lock.

    Returns:
        True if the program should end.
    """
    time.sleep(seconds)
    return stop.is_set()


def work_in_waves(
    stop: Event, piece: Callable[[], object], share: float, period: float, phase: float
) -> None:
    """Call `piece` again and again, using at most `share` of a CPU at the wave's crest.

    Args:
        stop: ends the loop.
        piece: a small bit of work, well under a millisecond.
        share: CPU seconds per second at the crest; half of it on average.
        period: period of the wave, seconds.
        phase: phase of the wave, turns.
    """
    while not stop.is_set():
        started = time.monotonic()
        budget = SLOT_SECONDS * share * wave(started, period, phase)
        until = time.thread_time() + budget
        while time.thread_time() < until:
            piece()
        pause(stop, max(0.0, SLOT_SECONDS - (time.monotonic() - started)))
