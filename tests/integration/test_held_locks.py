"""Waits for locks that somebody holds, unlike waits for work, for an end, or for a signal."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from processes import interpreters, start_ticks, thread_files, wait_until
from programs.named_java import NamedJava
from programs.named_locks import NamedLocks, futex_waits, is_futex
from programs.running import RunningProgram
from tidscope_collector.inspection.lock_answers import ask_lock_addresses
from tidscope_collector.inspection.python_threads import LAYOUTS

pytestmark = needs("root")

PROGRAM = """
import json, queue, signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

begun = threading.Barrier(3 if sys.argv[1] == "deadlock" else 1)
ids = {}

def take(first, second):
    ids[threading.current_thread().name] = threading.get_native_id()
    with first:
        begun.wait()
        with second:
            pass

def start(name, target, *arguments):
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    return thread

if sys.argv[1] == "deadlock":
    orders, stock = threading.Lock(), threading.RLock()
    start("sell", take, orders, stock)
    start("restock", take, stock, orders)
work, stop, both = queue.Queue(), threading.Event(), threading.Condition()
def wait_both():
    with both:
        both.wait()
for target in (work.get, work.get, stop.wait, threading.Semaphore(0).acquire, wait_both):
    waits = start("idle", target)
pool = ThreadPoolExecutor(2)
list(pool.map(str, range(2)))
old = ThreadPool(2)
old.map(str, range(2))
begun.wait()
print(json.dumps(ids), flush=True)
waits.join()
"""
NODE = "setInterval(() => {}, 1e9); require('fs').stat('/', () => console.log('ready'))"


def held(pid: int) -> set[int]:
    """Threads that wait for a lock that somebody holds, of all that wait at futexes."""
    calls = thread_files(pid, "syscall")
    waits = {int(call.split()[1], 16): tid for tid, call in calls.items() if is_futex(call)}
    answer = ask_lock_addresses(pid, start_ticks(pid), sorted(waits), 0, waits)
    assert answer.found.keys() == waits.keys()
    return {waits[address] for address, one in answer.found.items() if one.held}


@pytest.mark.parametrize("version", LAYOUTS)
def test_only_threads_of_python_that_wait_for_locks_wait_for_held_ones(
    version: tuple[int, int],
) -> None:
    interpreter = interpreters().get(version)
    if interpreter is None:
        pytest.skip(f"there is no CPython {version[0]}.{version[1]}")
    with RunningProgram([interpreter, "-c", PROGRAM, "deadlock"]) as program:
        ids = json.loads(program.line())
        assert ids.keys() == {"sell", "restock"}
        wait_until(lambda: held(program.pid) == set(ids.values()))


def test_mutexes_are_held_and_conditions_are_not() -> None:
    with NamedLocks() as program:
        found = {
            (Path(f"/proc/{program.pid}/task/{tid}/comm").read_text().strip())
            for tid in held(program.pid)
        }
    assert found >= {"global", "static", "data", "library", "heap"}
    assert not found & {"condition", "semaphore", "join", "changed"}


@contextmanager
def idle(kind: str) -> Iterator[int]:
    """Run a program whose threads have nothing to do; its ID."""
    if kind == "java":
        with NamedJava(["one", "two"]) as java:
            yield java.pid
        return
    command = {"node": ["node", "-e", NODE], "python": ["python3", "-c", PROGRAM, "idle"]}[kind]
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    with RunningProgram(command) as program:
        program.line()
        yield program.pid


@pytest.mark.parametrize("kind", ["python", "node", "java"])
def test_an_idle_program_waits_for_no_lock(kind: str) -> None:
    with idle(kind) as pid:
        wait_until(lambda: len(futex_waits(pid)) >= 1)
        # Threads that have just begun may still wait for locks of their runtime.
        wait_until(lambda: held(pid) == set())
