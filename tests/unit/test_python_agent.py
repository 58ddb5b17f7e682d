"""The Python agent: its pools, and its protocol."""

import gc
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, wait
from concurrent.futures.thread import BrokenThreadPool
from pathlib import Path

import pytest
from processes import wait_until
from tidscope_agent import ThreadPoolExecutor, protocol
from tidscope_agent.protocol import FailureError, parse_call, parse_set
from tidscope_agent.workers import Counts

AGENT = Path(__file__).parents[2] / "agents" / "python"


def named(prefix: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(f"{prefix}_")]


class Held:
    """Jobs that run until they are let go."""

    def __init__(self, pool: ThreadPoolExecutor, number: int) -> None:
        self.free = threading.Event()
        self.begun = threading.Semaphore(0)
        self.jobs = [pool.submit(self._job) for _ in range(number)]

    def _job(self) -> int:
        self.begun.release()
        assert self.free.wait(120)
        return 1

    def wait_for(self, number: int) -> None:
        for _ in range(number):
            assert self.begun.acquire(timeout=120)

    def finish(self) -> None:
        self.free.set()
        assert sum(job.result(120) for job in self.jobs) == len(self.jobs)


def settled(pool: ThreadPoolExecutor, condition: Callable[[Counts], bool]) -> Counts:
    """Wait for workers that end: nobody waits for a single one."""
    deadline = time.monotonic() + 120
    while not condition(pool.counts()):
        assert time.monotonic() < deadline, pool.counts()
        time.sleep(0.002)
    return pool.counts()


def test_it_is_an_executor() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert isinstance(pool, Executor)
        assert pool.submit(int, "12").result() == 12
        assert pool.submit(int, "ff", base=16).result() == 255
        assert list(pool.map(abs, range(-50, 0))) == list(range(50, 0, -1))
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(int)


def test_counts() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert pool.counts() == Counts(0, 0, 0, 2)
        held = Held(pool, 5)
        held.wait_for(2)
        assert (pool.counts().ops, pool.counts().queue_waits) == (0, 2)
        held.finish()
        counts = pool.counts()
        assert (counts.ops, counts.queue_waits, counts.size) == (5, 5, 2)
        assert counts.queue_wait_ns
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        assert pool.counts().ops == 6


def test_threads_are_started_when_they_are_needed() -> None:
    with ThreadPoolExecutor(4, "needed") as pool:
        assert named("needed") == []
        held = Held(pool, 2)
        held.wait_for(2)
        assert len(named("needed")) == 2
        held.finish()
    assert named("needed") == []


def test_growing_takes_waiting_jobs_at_once() -> None:
    with ThreadPoolExecutor(1) as pool:
        held = Held(pool, 4)
        held.wait_for(1)
        pool.resize(3)
        held.wait_for(2)
        assert pool.counts().size == pool.wanted == 3
        assert not held.begun.acquire(blocking=False)
        held.finish()


def test_shrinking_lets_jobs_finish_and_loses_none() -> None:
    with ThreadPoolExecutor(4, "shrink") as pool:
        held = Held(pool, 10)
        held.wait_for(4)
        pool.resize(1)
        assert (pool.wanted, pool.counts().size) == (1, 4)
        held.finish()
        assert settled(pool, lambda counts: counts.size == 1).ops == 10
        # A thread ends a little after it was counted out.
        wait_until(lambda: len(named("shrink")) == 1)


def test_idle_workers_end_when_it_shrinks() -> None:
    with ThreadPoolExecutor(4) as pool:
        held = Held(pool, 4)
        held.wait_for(4)
        held.finish()
        pool.resize(2)
        settled(pool, lambda counts: counts.size == 2)
        more = Held(pool, 4)
        more.wait_for(2)
        assert not more.begun.acquire(blocking=False)
        more.finish()


def test_the_size_may_change_all_the_time() -> None:
    with ThreadPoolExecutor(2) as pool:
        jobs: list[Future[int]] = []
        for step in range(400):
            pool.resize(step * 7 % 9 + 1)
            jobs += [pool.submit(abs, value) for value in range(10)]
        assert sum(job.result(120) for job in jobs) == 400 * 45
        counts = pool.counts()
        assert (counts.ops, counts.queue_waits) == (4000, 4000)


@pytest.mark.parametrize("size", [0, -1])
def test_no_size_below_one(size: int) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        ThreadPoolExecutor(size)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="greater than 0"):
        pool.resize(size)


def test_shutdown_finishes_the_queue() -> None:
    pool = ThreadPoolExecutor(1)
    held = Held(pool, 3)
    held.wait_for(1)
    pool.shutdown(wait=False)
    held.finish()
    pool.shutdown()
    assert pool.counts().ops == 3


def test_shutdown_can_cancel_the_queue() -> None:
    pool = ThreadPoolExecutor(1)
    held = Held(pool, 3)
    held.wait_for(1)
    pool.shutdown(wait=False, cancel_futures=True)
    held.free.set()
    assert held.jobs[0].result(120) == 1
    for job in held.jobs[1:]:
        with pytest.raises(CancelledError):
            job.result(120)
    pool.shutdown()
    assert pool.counts().ops == 1


def test_a_cancelled_job_is_not_done() -> None:
    with ThreadPoolExecutor(1) as pool:
        held = Held(pool, 1)
        held.wait_for(1)
        waiting = pool.submit(int)
        assert waiting.cancel()
        held.finish()
        pool.submit(int).result(120)
        assert pool.counts().ops == 2


def test_an_initializer_that_raises_breaks_the_pool() -> None:
    pool = ThreadPoolExecutor(2, initializer=divmod, initargs=(1, 0))
    with pytest.raises(BrokenThreadPool):
        pool.submit(int).result(120)
    with pytest.raises(BrokenThreadPool):
        pool.submit(int)
    pool.shutdown()


def test_an_initializer_runs_in_each_thread() -> None:
    seen: list[str] = []
    with ThreadPoolExecutor(3, initializer=seen.append, initargs=("a",)) as pool:
        held = Held(pool, 3)
        held.wait_for(3)
        held.finish()
    assert seen == ["a"] * 3


def test_a_pool_that_is_dropped_ends_its_threads() -> None:
    pool = ThreadPoolExecutor(2, "dropped")
    wait([pool.submit(int) for _ in range(4)])
    threads = named("dropped")
    assert threads
    del pool
    gc.collect()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


def test_a_finished_job_is_not_kept() -> None:
    class Argument:
        pass

    argument = Argument()
    gone = threading.Event()
    weakref.finalize(argument, gone.set)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(id, argument).result(120)
        del argument
        assert gone.wait(120)


PROGRAM = """
import sys, threading
from tidscope_agent import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
free = threading.Event()
pool.submit(free.wait)
for number in range(5):
    pool.submit(sys.stdout.write, f"{number}\\n")
free.set()
"""


def test_a_program_ends_without_a_shutdown_and_its_jobs_are_done() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(AGENT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == list("01234")


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"{", protocol.PARSE, None),
        (b"\xff", protocol.PARSE, None),
        (b'{"id":NaN}', protocol.PARSE, None),
        (b"[1]", protocol.INVALID, None),
        (b'{"id":true}', protocol.INVALID, None),
        (b'{"id":-1}', protocol.INVALID, None),
        (b'{"id":1}', protocol.INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":2}', protocol.INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"read","more":2}', protocol.INVALID, 1),
    ],
)
def test_what_is_no_call_is_refused(line: bytes, code: int, number: int | None) -> None:
    with pytest.raises(FailureError) as refused:
        parse_call(line)
    assert (refused.value.code, refused.value.number) == (code, number)
    assert refused.value.closes
    assert json.loads(protocol.failure_line(refused.value, number))["error"]["code"] == code


def test_a_call() -> None:
    call = parse_call(b'{"jsonrpc":"2.0","id":1,"method":"set","params":{"size":2,"lease_s":3}}')
    assert (call.number, call.method, call.has_params) == (1, "set", True)
    assert parse_set(call.params) == (2, 3.0)
    assert protocol.answer_line(1, [2]) == b'{"jsonrpc":"2.0","id":1,"result":[2]}\n'


@pytest.mark.parametrize(
    "params",
    [
        None,
        {"size": 1},
        {"size": 0, "lease_s": 1},
        {"size": True, "lease_s": 1},
        {"size": 1, "lease_s": 0},
        {"size": 1, "lease_s": "1"},
        {"size": 1, "lease_s": 61},
    ],
)
def test_a_size_has_bounds(params: object) -> None:
    with pytest.raises(FailureError) as refused:
        parse_set(params)
    assert refused.value.code == protocol.PARAMS
    assert not refused.value.closes
