"""Threads of CPython that wait in known measure; a line on standard input starts them.

Two threads compute, so that one of them waits for the GIL at any time; one waits for a lock that
main holds, one in a read of a pipe. Each says what it did, in nanoseconds, and waits again.
"""

import json
import os
import sys
import threading
import time

COMPUTE_NS = 800_000_000

begin, held, done = threading.Event(), threading.Lock(), threading.Event()
readable, writable = os.pipe()
said: dict[str, dict[str, int]] = {}
saying = threading.Lock()


def say(name: str, wall_ns: int, waited_ns: int) -> None:
    """Keep what the calling thread did."""
    known = {"wall_ns": wall_ns, "waited_ns": waited_ns, "cpu_ns": time.thread_time_ns()}
    with saying:
        said[name] = {"tid": threading.get_native_id(), **known}


def compute() -> None:
    begin.wait()
    began = time.monotonic_ns()
    number = 0
    while time.monotonic_ns() - began < COMPUTE_NS:
        number += 1
    say(threading.current_thread().name, time.monotonic_ns() - began, 0)
    done.wait()


def wait_for_lock() -> None:
    begin.wait()
    began = time.monotonic_ns()
    with held:
        waited = time.monotonic_ns() - began
    say("lock", waited, waited)
    done.wait()


def read_pipe() -> None:
    begin.wait()
    began = time.monotonic_ns()
    os.read(readable, 1)
    waited = time.monotonic_ns() - began
    say("pipe", waited, waited)
    done.wait()


threads = [
    threading.Thread(target=compute, name="compute-1"),
    threading.Thread(target=compute, name="compute-2"),
    threading.Thread(target=wait_for_lock),
    threading.Thread(target=read_pipe),
]
for thread in threads:
    thread.start()
held.acquire()
print("ready", flush=True)
sys.stdin.readline()
begin.set()
time.sleep(COMPUTE_NS / 2e9)
held.release()
os.write(writable, b"x")
while len(said) < len(threads):
    time.sleep(0.01)
print(json.dumps(said), flush=True)
sys.stdin.read()
done.set()
