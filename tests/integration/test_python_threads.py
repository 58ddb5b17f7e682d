"""Threads of CPython are named by the functions that they were started with, unnoticed by it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from processes import descendants, interpreters, start_ticks, wait_until
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.python_threads import LAYOUTS
from tidscope_collector.inspection.reader import ask_python_threads
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_wire.generated.models import ThreadRenamed

PROGRAM = """
import ctypes, sys, threading
from concurrent.futures import ThreadPoolExecutor

ended = threading.Event()
arrived = threading.Semaphore(0)

def stay():
    arrived.release()
    ended.wait()

def deep(calls):
    if calls:
        deep(calls - 1)
    else:
        stay()

def serve():
    def arrive():
        stay()
    threading.Thread(target=arrive).start()

class Flusher(threading.Thread):
    def run(self):
        deep(40)

def named():
    ctypes.CDLL(None).prctl(15, b"by-itself", 0, 0, 0)
    stay()

serve()
Flusher().start()
threading.Thread(target=named).start()
pool = ThreadPoolExecutor(2)
pool.submit(deep, 900)
pool.submit(deep, 900)
for _ in range(5):
    arrived.acquire()
print("ready", flush=True)
sys.stdin.read()
ended.set()
"""
NAMES = ["Flusher", "ThreadPoolExecutor", "ThreadPoolExecutor", "arrive"]


@contextmanager
def running(interpreter: str, *lead: str) -> Iterator[int]:
    """Run the program, below another one if given; the ID of what was started."""
    command = [*lead, interpreter, "-c", PROGRAM]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            yield program.pid
        finally:
            program.kill()


@pytest.mark.parametrize("version", LAYOUTS)
def test_each_thread_has_the_name_of_its_function(version: tuple[int, int]) -> None:
    interpreter = interpreters().get(version)
    if interpreter is None:
        pytest.skip(f"there is no CPython {version[0]}.{version[1]}")
    with running(interpreter) as pid:

        def names() -> list[str]:
            return sorted(ask_python_threads(pid, start_ticks(pid)).values())

        wait_until(lambda: names() == NAMES)


@needs("root")
def test_threads_of_a_namespace_have_their_ids_outside_of_it() -> None:
    interpreter = next((path for version, path in interpreters().items() if version in LAYOUTS), "")
    if not interpreter:
        pytest.skip("there is no CPython of a known version")
    with running(interpreter, "unshare", "--pid", "--fork", "--kill-child") as outer:
        (pid,) = descendants(outer)
        found: dict[int, str] = {}

        def names() -> list[str]:
            nonlocal found
            found = ask_python_threads(pid, start_ticks(pid))
            return sorted(found.values())

        wait_until(lambda: names() == NAMES)
        assert found.keys() < {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}


def test_another_version_says_so() -> None:
    older = [path for version, path in interpreters().items() if version < min(LAYOUTS)]
    if not older:
        pytest.skip("there is no CPython below 3.11")
    with running(older[-1]) as pid, pytest.raises(NoAnswerError, match=r"3\.11"):
        ask_python_threads(pid, start_ticks(pid))


def test_a_target_has_these_names() -> None:
    interpreter = next((path for version, path in interpreters().items() if version in LAYOUTS), "")
    if not interpreter:
        pytest.skip("there is no CPython of a known version")
    naming = NamingOptions(read_programs=True)
    with running(interpreter) as pid, FollowedTarget(pid, naming=naming) as followed:
        named: list[str] = []
        while len(named) < len(NAMES):
            events = followed.next().events
            named += [one.name for one in events if isinstance(one, ThreadRenamed)]
        assert sorted(named) == NAMES
