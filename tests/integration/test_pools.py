"""Pools and workers of real programs in frames: what agents and Java's counters say of them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from capabilities import missing
from followed_target import FollowedTarget
from programs.agent_program import (
    AGENTS,
    JAVA_OPTIONS,
    LANGUAGES,
    ORIGINAL,
    AgentFolder,
    AgentProgram,
    service,
)
from programs.build import build_cargo, build_java
from programs.named_java import NamedJava
from tidscope_wire.pools import FIGURES

PATIENCE_FRAMES = 6_000
REQUESTS = 400
AGREES = 0.02
"""Relative tolerance of times: the service reads its clock at other instants than the agent."""
KINDS = dict.fromkeys(LANGUAGES, "threads") | {"go": "workers"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with AgentFolder() as path:
        yield path


def settled_ns(followed: FollowedTarget) -> int:
    """Return the time of a reading, since attach: later ones begin after this call.

    Frames that wait, and the reading in progress, may show a program that still works.
    """

    def read_ns() -> int:
        return max([row["read_ns"] for row in followed.seen.tables.get("pools", ())], default=0)

    after_ns = followed.catch_up().time_ns
    followed.until(lambda: read_ns() > after_ns)
    return read_ns()


def until_finished(followed: FollowedTarget, jobs: int, pool: str = "pool") -> dict[str, Any]:
    """Take frames until a pool has finished so many; its row."""
    after_ns = settled_ns(followed)
    for _ in range(PATIENCE_FRAMES):
        followed.next()
        for row in followed.seen.tables.get("pools", ()):
            is_done = row["finished"] >= jobs and not row["busy"]
            if row["name"] == pool and is_done and row["read_ns"] > after_ns:
                return dict(zip(row.dtype.names, row.tolist(), strict=True))
    raise AssertionError(f"no pool finished {jobs} jobs: {followed.seen.tables.get('pools')}")


def until_read(followed: FollowedTarget, pool: str = "pool") -> None:
    """Take frames until a pool was read: what it does from then on counts."""
    for _ in range(PATIENCE_FRAMES):
        followed.next()
        if pool in [row["name"] for row in followed.seen.tables.get("pools", ())]:
            return
    raise AssertionError(f"{pool} was not read: {followed.seen.tables.get('pools')}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_jobs_are_counted_exactly_with_their_times(language: str, folder: Path) -> None:
    with (
        AgentProgram(language, folder) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until_read(followed)
        assert program.ask("ops 1234") == "ops 1234"
        row = until_finished(followed, 1234)
        times = followed.seen.tables["pool_times"]
    assert (row["name"], row["kind"], row["source"]) == ("pool", KINDS[language], "agent")
    assert (row["size"], row["pid"]) == (ORIGINAL, program.pid)
    assert row["submitted"] == row["started"] == row["finished"] == 1234
    assert (row["failed"], row["queue"], row["busy"]) == (0, 0, 0)
    # Each job's response is its queue wait and its run.
    assert row["response_ns"] == row["queue_wait_ns"] + row["run_ns"]
    assert 0 < row["idle_ns"] < ORIGINAL * row["read_ns"]
    own = times[times["pool"] == row["pool"]]
    for time in (0, 1):
        assert own["count"][own["time"] == time].sum() == 1234
    assert int(row["known"]) & 1 << FIGURES.index("steals") == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_service_measures_itself_what_frames_say(language: str, folder: Path) -> None:
    """Counts agree exactly; times, most of which requests spend in the queue, within AGREES."""
    with (
        AgentProgram(language, folder, instead=service(language)) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until_read(followed, "requests")
        logged = json.loads(program.ask(str(REQUESTS)))
        row = until_finished(followed, REQUESTS, "requests")
    assert logged["finished"] == row["finished"] == row["submitted"] == REQUESTS
    assert logged["failed"] == row["failed"] == REQUESTS // 50
    for time in ("response_ns", "queue_wait_ns"):
        assert row[time] == pytest.approx(logged[time], rel=AGREES), time


PROGRAMS = Path(__file__).parents[1] / "programs"
UNSTABLE = "--cfg tokio_unstable"
BLOCKED, JOBS, TASKS = 7, 200, 500
FAILED = JOBS // 10
CARRIERS, WAITING = 3, 5


def built(flags: str) -> list[str]:
    """The program; the test is skipped where there is no way to its crates."""
    try:
        return [
            str(
                build_cargo(
                    PROGRAMS / "pools_rust", AGENTS / "rust" / "tidscope_agent", flags=flags
                )
            )
        ]
    except RuntimeError as error:
        if "could not compile" in str(error):
            raise
        raise missing("crates", str(error)) from None


def until(
    followed: FollowedTarget, pool: str, figure: str, least: int, after_ns: int = 0
) -> dict[str, int | None]:
    """Take frames until a pool has that much of a figure; its figures, None where not known.

    Args:
        followed: the target.
        pool: name of the pool.
        figure: the figure.
        least: its least value.
        after_ns: readings up to this time do not count; nanoseconds since attach.
    """
    for _ in range(PATIENCE_FRAMES):
        followed.next()
        for row in followed.seen.tables.get("pools", ()):
            known = int(row["known"])
            if row["name"] == pool and row[figure] >= least and row["read_ns"] > after_ns:
                return {
                    name: int(row[name]) if known >> bit & 1 else None
                    for bit, name in enumerate(FIGURES)
                }
    raise AssertionError(f"{pool}: {figure} below {least}: {followed.seen.tables.get('pools')}")


def test_a_python_executor_and_to_thread(folder: Path) -> None:
    command = [sys.executable, str(PROGRAMS / "pools_python" / "main.py")]
    with (
        AgentProgram("python", folder, instead=command) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until(followed, "plain", "size", 2)
        program.ask(f"plain {JOBS}")
        plain = until(followed, "plain", "finished", JOBS, settled_ns(followed))
        assert (plain["size"], plain["submitted"], plain["started"]) == (2, JOBS, JOBS)
        assert (plain["failed"], plain["busy"], plain["queue"]) == (FAILED, 0, 0)
        assert plain["response_ns"] == (plain["queue_wait_ns"] or 0) + (plain["run_ns"] or 0)
        assert (plain["run_ns"] or 0) >= JOBS * 1_000_000
        program.ask(f"to_thread {TASKS}")
        calls = until(followed, "to_thread", "finished", TASKS, settled_ns(followed))
        assert (calls["submitted"], calls["failed"], calls["queue"]) == (TASKS, 0, 0)


def java_program(java: str) -> list[str]:
    """The program of pools_java, run by this Java."""
    sources = [*(AGENTS / "java" / "src").rglob("*.java"), PROGRAMS / "pools_java" / "Pooled.java"]
    classes = build_java("pools_java", sources)
    return [java, *JAVA_OPTIONS, "-cp", str(classes), "Pooled"]


def java_24() -> str:
    """A Java that says something of its carriers; the test is skipped where there is none."""
    found = [shutil.which("java") or "", *map(str, Path("/usr/lib/jvm").glob("*/bin/java"))]
    for java in filter(None, found):
        asked = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
        if int(asked.stderr.split('"')[1].split(".")[0]) >= 24:
            return java
    raise missing("java-24")


def test_a_java_executor_and_fork_and_join(folder: Path) -> None:
    with (
        AgentProgram("java", folder, instead=java_program("java")) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until(followed, "plain", "size", 2)
        program.ask(f"plain {JOBS}")
        plain = until(followed, "plain", "finished", JOBS, settled_ns(followed))
        assert (plain["size"], plain["finished"], plain["busy"]) == (2, JOBS, 0)
        # The executor does not say how long jobs took.
        assert (plain["response_ns"], plain["failed"]) == (None, None)
        program.ask("fork 1000000")
        forks = until(followed, "forks", "steals", 1, settled_ns(followed))
        assert (forks["size"], forks["queue"], forks["finished"]) == (3, 0, None)


def test_carriers_of_virtual_threads(folder: Path) -> None:
    command = java_program(java_24())
    command.insert(1, f"-Djdk.virtualThreadScheduler.parallelism={CARRIERS}")
    with (
        AgentProgram("java", folder, instead=command) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until(followed, "carriers", "size", CARRIERS)
        program.ask(f"spin {CARRIERS + WAITING}")
        # A virtual thread that computes keeps its carrier; the others wait.
        busy = until(followed, "carriers", "busy", CARRIERS)
        queued = until(followed, "carriers", "queue", WAITING)
        assert (busy["size"], queued["busy"], queued["queue"]) == (CARRIERS, CARRIERS, WAITING)
        assert (queued["finished"], queued["steals"], queued["run_ns"]) == (None, None, None)
        program.ask("plain 1")


@pytest.mark.timeout(600)
def test_rayon_jobs_and_tokio_workers(folder: Path) -> None:
    """With tokio as most programs build it: what it calls stable."""
    with (
        AgentProgram("rust", folder, instead=built("")) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until(followed, "crunching", "size", 3)
        ran_ns = int(program.ask(f"jobs {JOBS}").removeprefix("jobs "))
        rayon = until(followed, "crunching", "finished", JOBS, settled_ns(followed))
        assert (rayon["submitted"], rayon["started"], rayon["finished"]) == (JOBS, JOBS, JOBS)
        assert (rayon["failed"], rayon["busy"], rayon["queue"]) == (FAILED, 0, 0)
        assert rayon["run_ns"] is not None
        assert ran_ns < rayon["run_ns"]
        times = (rayon["response_ns"], rayon["queue_wait_ns"], rayon["run_ns"])
        assert None not in times
        assert times[0] == (times[1] or 0) + (times[2] or 0)
        # rayon reports no steals, parks and polls.
        assert (rayon["steals"], rayon["parks"], rayon["polls"]) == (None, None, None)
        # Counted is what comes after the first reading.
        before = int(program.ask("tasks 0").split()[2])
        parks = int(program.ask(f"tasks {TASKS}").split()[2])
        assert parks > before
        tokio = until(followed, "web", "parks", parks - before)
        assert tokio["size"] == 2
        assert (tokio["run_ns"] or 0) > 0
        assert (tokio["idle_ns"] or 0) > 0
        assert (tokio["polls"], tokio["submitted"], tokio["response_ns"]) == (None, None, None)


@pytest.mark.timeout(600)
def test_tokio_tasks_steals_polls_and_blocking_calls(folder: Path) -> None:
    with (
        AgentProgram("rust", folder, instead=built(UNSTABLE)) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until(followed, "web", "size", 2)
        own = [int(word) for word in program.ask(f"tasks {TASKS}").split()[1:]]
        spawned, _, polls, steals = own
        assert (spawned, TASKS <= polls <= 2 * TASKS) == (TASKS, True)
        # A task is polled before it waits and after; workers count up when they park.
        tokio = until(followed, "web", "polls", 2 * TASKS, settled_ns(followed))
        assert (tokio["submitted"], tokio["finished"], tokio["queue"]) == (TASKS, TASKS, 0)
        assert (tokio["steals"] or 0) >= steals
        program.ask(f"block {BLOCKED}")
        blocking = until(followed, "web-blocking", "busy", 0, settled_ns(followed))
        assert (blocking["busy"], blocking["queue"]) == (0, 0)


@pytest.mark.timeout(120)
def test_its_threads_and_collections_are_in_frames() -> None:
    with NamedJava(["worker-1", "worker-2"]) as java, FollowedTarget(java.pid) as followed:
        for _ in range(PATIENCE_FRAMES):
            followed.next()
            table = followed.seen.tables.get("pools", ())
            pools = {row["name"]: row for row in table}
            if pools:
                break
        names = set(os.listdir(f"/proc/{java.pid}/task"))
        assert {row["source"] for row in pools.values()} == {"hsperfdata"}
        # The machine has further threads of its own, which Java does not count.
        assert 2 <= pools["Java threads"]["size"] < len(names)
        assert pools["Java threads"]["size"] > pools["Java daemon threads"]["size"] > 0
        assert pools["JIT compiler"]["size"] > 0
        assert any(row["kind"] == "gc" for row in pools.values())
        # Independent reading by the JDK's own tool; a thread may have begun since the first one.
        counted = subprocess.run(
            ["jcmd", str(java.pid), "PerfCounter.print"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        daemons = next(
            int(line.partition("=")[2])
            for line in counted.splitlines()
            if line.startswith("java.threads.daemon=")
        )

        def read() -> list[int]:
            rows = followed.seen.tables["pools"]
            return [int(row["size"]) for row in rows if row["name"] == "Java daemon threads"]

        followed.until(lambda: read() == [daemons])
