"""Pools of real programs in frames: what they did, exactly, steered or not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from followed_target import FollowedTarget
from programs.agent_program import LANGUAGES, ORIGINAL, AgentFolder, AgentProgram, service
from tidscope_wire.pools import FIGURES

PATIENCE_FRAMES = 2_000
REQUESTS = 400
AGREES = 0.02
"""Of times: the service reads its clock at other instants than the agent."""
KINDS = {"go": "workers", "python": "threads", "java": "threads", "rust": "threads"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with AgentFolder() as path:
        yield path


def until_finished(followed: FollowedTarget, jobs: int, pool: str = "pool") -> dict[str, Any]:
    """Take frames until a pool has finished so many; its row."""
    for _ in range(PATIENCE_FRAMES):
        followed.next()
        for row in followed.seen.tables.get("pools", ()):
            if row["name"] == pool and row["finished"] >= jobs and not row["busy"]:
                return dict(zip(row.dtype.names, row.tolist(), strict=True))
    raise AssertionError(f"no pool finished {jobs} jobs: {followed.seen.tables.get('pools')}")


def until_read(followed: FollowedTarget) -> None:
    """Take frames until the pools were read: what they do from then on counts."""
    for _ in range(PATIENCE_FRAMES):
        followed.next()
        if len(followed.seen.tables.get("pools", ())):
            return
    raise AssertionError("no pools were read")


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
    """Its counts exactly; its times, most of which requests spend in the queue, within AGREES."""
    with (
        AgentProgram(language, folder, instead=service(language)) as program,
        FollowedTarget(program.pid, rate_hz=50) as followed,
    ):
        until_read(followed)
        logged = json.loads(program.ask(str(REQUESTS)))
        row = until_finished(followed, REQUESTS, "requests")
    assert logged["finished"] == row["finished"] == row["submitted"] == REQUESTS
    assert logged["failed"] == row["failed"] == REQUESTS // 50
    for time in ("response_ns", "queue_wait_ns"):
        assert row[time] == pytest.approx(logged[time], rel=AGREES), time
