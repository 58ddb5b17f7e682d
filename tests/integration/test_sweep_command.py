"""`tidscope sweep`: on programs whose throughput at each size is known."""

import asyncio
import json
import os
import signal
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from backend_server import TOKEN
from capabilities import needs
from programs.agent_program import AgentFolder
from programs.steered import (
    PENALTY,
    Steered,
    known_throughput,
    paced_go,
    paced_python,
    planted_gain,
    served_go,
)
from tidscope_wire.generated.models import SweepState, Target
from whole_site import Site

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]
SLACK = 0.02
"""An interval of 95 % misses now and then: by little."""


async def start(root: Site, pid: int, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "sweep", "--port", str(root.backend.port)),
        *("--pid", str(pid), "--block", "0.5", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )


async def sweep(root: Site, pid: int, *arguments: str) -> tuple[int, SweepState, str]:
    process = await start(root, pid, "--json", *arguments)
    out, errors = await process.communicate()
    assert process.returncode is not None
    assert out, errors.decode()
    return process.returncode, SweepState.model_validate(json.loads(out)), errors.decode()


async def target_of(root: Site, pid: int) -> Target:
    (target,) = [one for one in await root.targets() if one.process.pid == pid]
    return target


def check_curve(found: SweepState, known: Callable[[int], float]) -> None:
    """The shape of a curve is known: each interval holds it, at the mean level."""
    level = 1.0
    for point in found.points:
        level *= (point.ops_per_s / known(point.size)) ** (1 / len(found.points))
    for point in found.points:
        assert point.low is not None
        assert point.high is not None
        expected = level * known(point.size)
        assert point.low * (1 - SLACK) <= expected <= point.high * (1 + SLACK), found


async def test_the_curve_of_a_go_program_is_what_is_known_of_it(root: Site, tmp_path: Path) -> None:
    with AgentFolder() as folder, Steered(paced_go(3, 2), folder) as program:
        picture = tmp_path / "curve.svg"
        code, found, errors = await sweep(root, program.pid, "--svg", str(picture))
        assert (code, found.verdict, found.rounds) == (0, "decided", 4), found
        assert (found.knee, found.knee_from, found.knee_to, found.best) == (2, 2, 2, 2)
        assert found.line == "GOMAXPROCS=2"
        check_curve(found, lambda size: known_throughput(size, 2))
        assert found.gain is not None
        assert found.gain.low_percent is not None
        assert found.gain.high_percent is not None
        assert found.gain.low_percent - 2 < 100 * PENALTY < found.gain.high_percent + 2
        target = await target_of(root, program.pid)
        assert (target.steering, target.gomaxprocs) == (None, 3)
        assert "its original size is restored" in errors
        drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
        assert "knee 2" in "".join(drawn.itertext())


async def test_a_pool_is_swept_within_bounds(root: Site) -> None:
    with AgentFolder() as folder, Steered(paced_python(8, 2), folder) as program:
        code, found, _ = await sweep(root, program.pid, "--lower", "2", "--upper", "3")
        assert (code, found.knee, found.line) == (0, 2, "ThreadPoolExecutor(max_workers=2)"), found
        assert [one.size for one in found.points] == [2, 3]


@needs("two-cpus")
async def test_a_program_without_an_agent_is_swept_by_its_cpus(root: Site) -> None:
    with Steered(served_go()) as program:
        port = program.said.split()[1]
        counter = f"{port}:/metrics#served_ops_total"
        chosen = ("--knob", "go-affinity", "--signal", "prometheus", "--counter", counter)
        code, found, _ = await sweep(root, program.pid, "--upper", "2", *chosen)
        assert (code, found.knee, found.line) == (0, 1, "GOMAXPROCS=1"), found
        check_curve(found, lambda size: 1 / (1 + PENALTY * (size - 1)))
        assert len(os.sched_getaffinity(program.pid)) == len(os.sched_getaffinity(0))


async def test_one_that_gets_worse_is_stopped_in_time(root: Site) -> None:
    with AgentFolder() as folder, Steered(planted_gain(0.05), folder) as program:
        limits = ("--upper", "2", "--loss", "5", "--max-seconds", "20")
        code, found, errors = await sweep(root, program.pid, *limits)
        assert (code, found.verdict) == (2, "harmful"), found
        # 5 % of 20 s, and what an interval more loses.
        assert 1 < found.lost_s < 2
        assert found.elapsed_s < 10
        assert "its original size is restored" in errors
        assert (await target_of(root, program.pid)).steering is None


async def test_a_signal_ends_it_and_restores_the_size(root: Site) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        process = await start(root, program.pid)
        assert process.stderr is not None
        assert b"0 rounds measured" in await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 3, errors
        assert b"no result" in errors
        assert (await target_of(root, program.pid)).steering is None
