"""`tidscope steer`, `prove` and `sweep`: the same as the page's buttons, in a terminal."""

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
from installation import Installation
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
from tidscope_wire.generated.models import (
    ProofState,
    RunEvent,
    RunEventsResponse,
    Steering,
    SteeringDecided,
    SweepState,
    Target,
)

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]


async def start_steer(
    root: Installation, *arguments: str, token: str = TOKEN
) -> asyncio.subprocess.Process:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
    if token:
        environment["TIDSCOPE_TOKEN"] = token
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "steer", "--port", str(root.backend.port)),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )


async def steer(root: Installation, *arguments: str, token: str = TOKEN) -> tuple[int, str, str]:
    process = await start_steer(root, *arguments, token=token)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def test_until_a_signal_comes(root: Installation) -> None:
    with AgentFolder() as folder, Steered(paced_go(8, 4), folder) as program:
        pid = str(program.pid)
        code, out, _ = await steer(root, "--pid", pid, "--options")
        assert code == 0
        assert "knob    go-agent       1 to 8\n" in out
        assert "signal  agent-ops" in out
        assert "kalman-kg" in out

        process = await start_steer(
            root,
            *("--pid", pid, "--policy", "bidirectional", "--set", "interval_s=0.5", "--json"),
        )
        assert process.stdout is not None
        sizes: set[int] = set()
        while len(sizes) < 3:
            line = await process.stdout.readline()
            assert line, await process.communicate()
            now = Steering.model_validate(json.loads(line))
            assert (now.policy, now.parameters["interval_s"]) == ("bidirectional", 0.5)
            sizes.add(now.size)

        code, _, _ = await steer(root, "--pid", pid, "--restart")
        assert code == 0
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 0
        assert b"its original size is restored" in errors
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is None


async def test_it_can_be_left_and_released_later(root: Installation) -> None:
    with AgentFolder() as folder, Steered(paced_go(8, 4), folder) as program:
        pid = str(program.pid)
        code, out, errors = await steer(
            root, "--pid", pid, "--policy", "fixed", "--upper", "2", "--duration", "1", "--keep"
        )
        assert code == 0, errors
        assert "fixed" in out
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is not None
        assert target.steering.upper == 2
        assert (await steer(root, "--pid", pid, "--release"))[0] == 0
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "nonsense"), "there is no policy 'nonsense'"),
        (("--set", "interval_s"), "NAME=NUMBER"),
        (("--set", "interval_s=soon"), "NAME=NUMBER"),
        (("--counter", "9100"), "PORT:PATH#NAME"),
        (("--release",), "no policy steers this target"),
        (("--knob", "go-agent"), "agent"),
    ],
)
async def test_what_cannot_be_done_is_reported(
    root: Installation, arguments: tuple[str, ...], words: str
) -> None:
    code, out, errors = await steer(root, "--pid", str(os.getpid()), *arguments)
    assert code != 0
    assert out == ""
    assert words in errors


async def test_without_a_token_it_says_where_to_find_one(root: Installation) -> None:
    code, _, errors = await steer(root, "--pid", "1", token="")
    assert code != 0
    assert "TIDSCOPE_TOKEN" in errors


async def test_a_command_that_is_killed_leaves_nothing_steered(root: Installation) -> None:
    with AgentFolder() as folder, Steered(paced_go(8, 4), folder) as program:
        pid = str(program.pid)
        process = await start_steer(root, "--pid", pid, "--policy", "fixed", "--upper", "2")
        assert process.stdout is not None
        assert await process.stdout.readline()
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is not None
        process.kill()
        await process.communicate()
        async with asyncio.timeout(120):
            while target.steering is not None:
                await asyncio.sleep(0.1)
                (target,) = [one for one in await root.targets() if one.process.pid == program.pid]


TWO_WORKERS = ("--policy", "fixed", "--set", "size=2", "--set", "interval_s=0.5")


async def start_prove(
    root: Installation, pid: int, folder: Path, *arguments: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "prove", "--port", str(root.backend.port)),
        *("--pid", str(pid), *TWO_WORKERS, *arguments),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )


async def prove(
    root: Installation, pid: int, folder: Path, *arguments: str
) -> tuple[int, str, str]:
    process = await start_prove(root, pid, folder, *arguments)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def target_with(root: Installation, pid: int) -> Target:
    (target,) = [one for one in await root.targets() if one.process.pid == pid]
    return target


@pytest.mark.timeout(600)
async def test_what_is_planted_is_shown(root: Installation, tmp_path: Path) -> None:
    """A gain, none, and a loss; at the same time, since the programs only wait."""
    with (
        AgentFolder() as folder,
        Steered(planted_gain(1.5), folder) as faster,
        Steered(planted_gain(1.0), folder) as same,
        Steered(planted_gain(0.5), folder) as slower,
    ):
        blocks = ("--block", "2", "--smallest", "25", "--most", "400", "--json")
        # A machine that stalls for half a second loses more than 5 % of four blocks.
        patient = (*blocks, "--loss", "100")
        found = await asyncio.gather(
            prove(root, faster.pid, tmp_path, *patient),
            prove(root, same.pid, tmp_path, *patient),
            prove(root, slower.pid, tmp_path, *blocks),
        )
        assert all(out for _, out, _ in found), found
        proven = [ProofState.model_validate(json.loads(out)) for _, out, _ in found]
        assert [one.verdict for one in proven] == ["better", "same", "harmful"], found
        assert [code for code, _, _ in found] == [0, 1, 2]
        gain, none, loss = proven
        assert gain.low_percent is not None
        assert gain.low_percent > 0
        assert none.gain_percent is not None
        assert abs(none.gain_percent) < 25
        # 5 % of four blocks of 2 s, and what an interval more loses.
        decided = [one.event for one in await events_of(root, found[2][2])]
        long_s = max(one.elapsed_s for one in decided if isinstance(one, SteeringDecided))
        assert 0.4 < loss.lost_s < 1.5 + long_s
        # Only what is better goes on.
        targets = [await target_with(root, one.pid) for one in (faster, same, slower)]
        assert targets[0].steering is not None
        assert targets[0].steering.size == 2
        assert [one.steering for one in targets[1:]] == [None, None]
        assert "restored" not in found[0][2]
        assert "its original size is restored" in found[1][2]

        picture = tmp_path / f"proof-fixed-{faster.pid}.svg"
        drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
        assert gain.text in "".join(drawn.itertext())
        events = await events_of(root, found[0][2])
        assert [one.event.type for one in events].count("steering_proven") == 1


async def events_of(root: Installation, said: str) -> list[RunEvent]:
    """Return the events of the run that a command names last."""
    run = said.rpartition("run ")[2].partition(",")[0].strip()
    answer = await root.client.get(f"/api/v1/runs/{run}/events")
    return RunEventsResponse.model_validate_json(answer.raise_for_status().content).events


async def test_a_signal_ends_a_proof_and_restores_the_size(
    root: Installation, tmp_path: Path
) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        process = await start_prove(root, program.pid, tmp_path)
        assert process.stderr is not None
        # The first line says how the proof stands: it steers now.
        assert b"no gain is known" in (await process.stderr.readline()).lower()
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 3, errors
        assert b"no result" in errors
        assert (await target_with(root, program.pid)).steering is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loss", "0"), "0.1"),
        (("--knob", "go-agent"), "not a go-agent"),
    ],
)
async def test_what_cannot_be_proven_is_refused(
    root: Installation, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        code, out, errors = await prove(root, program.pid, tmp_path, *arguments)
        assert code != 0
        assert out == ""
        assert words in errors


SLACK = 0.02
WIDER = 4
"""An interval of 95 % misses now and then. After four rounds, one of 99.9 % is as much wider."""


async def start_sweep(root: Installation, pid: int, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "sweep", "--port", str(root.backend.port)),
        *("--pid", str(pid), "--block", "0.5", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )


async def sweep(root: Installation, pid: int, *arguments: str) -> tuple[int, SweepState, str]:
    process = await start_sweep(root, pid, "--json", *arguments)
    out, errors = await process.communicate()
    assert process.returncode is not None
    assert out, errors.decode()
    return process.returncode, SweepState.model_validate(json.loads(out)), errors.decode()


def check_curve(found: SweepState, known: Callable[[int], float]) -> None:
    """The shape of a curve is known: each interval holds it, at the mean level."""
    level = 1.0
    for point in found.points:
        level *= (point.ops_per_s / known(point.size)) ** (1 / len(found.points))
    for point in found.points:
        assert point.low is not None
        assert point.high is not None
        expected = level * known(point.size)
        low = point.ops_per_s * (point.low / point.ops_per_s) ** WIDER
        high = point.ops_per_s * (point.high / point.ops_per_s) ** WIDER
        assert low * (1 - SLACK) <= expected <= high * (1 + SLACK), found


async def test_the_curve_of_a_go_program_is_what_is_known_of_it(
    root: Installation, tmp_path: Path
) -> None:
    with AgentFolder() as folder, Steered(paced_go(3, 2), folder) as program:
        picture = tmp_path / "curve.svg"
        code, found, errors = await sweep(root, program.pid, "--svg", str(picture))
        assert (code, found.verdict) == (0, "decided"), found
        # Beside other tests a few more rounds may be needed.
        assert found.rounds >= 4
        assert (found.knee, found.knee_from, found.knee_to, found.best) == (2, 2, 2, 2)
        assert found.line == "GOMAXPROCS=2"
        check_curve(found, lambda size: known_throughput(size, 2))
        assert found.gain is not None
        assert found.gain.low_percent is not None
        assert found.gain.high_percent is not None
        low, high = found.gain.low_percent, found.gain.high_percent
        wider = (WIDER - 1) * (high - low) / 2 + 100 * SLACK
        assert low - wider < 100 * PENALTY < high + wider
        target = await target_with(root, program.pid)
        assert (target.steering, target.gomaxprocs) == (None, 3)
        assert "its original size is restored" in errors
        drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
        assert "knee 2" in "".join(drawn.itertext())


async def test_a_pool_is_swept_within_bounds(root: Installation) -> None:
    with AgentFolder() as folder, Steered(paced_python(8, 2), folder) as program:
        code, found, _ = await sweep(root, program.pid, "--lower", "2", "--upper", "3")
        assert (code, found.knee, found.line) == (0, 2, "ThreadPoolExecutor(max_workers=2)"), found
        assert [one.size for one in found.points] == [2, 3]


@needs("two-cpus")
async def test_a_program_without_an_agent_is_swept_by_its_cpus(root: Installation) -> None:
    with Steered(served_go()) as program:
        port = program.said.split()[1]
        counter = f"{port}:/metrics#served_ops_total"
        chosen = ("--knob", "go-affinity", "--signal", "prometheus", "--counter", counter)
        code, found, _ = await sweep(root, program.pid, "--upper", "2", *chosen)
        assert (code, found.knee, found.line) == (0, 1, "GOMAXPROCS=1"), found
        check_curve(found, lambda size: 1 / (1 + PENALTY * (size - 1)))
        assert len(os.sched_getaffinity(program.pid)) == len(os.sched_getaffinity(0))


async def test_one_that_gets_worse_is_stopped_in_time(root: Installation) -> None:
    with AgentFolder() as folder, Steered(planted_gain(0.05), folder) as program:
        limits = ("--upper", "2", "--loss", "5", "--max-seconds", "20")
        code, found, errors = await sweep(root, program.pid, *limits)
        assert (code, found.verdict) == (2, "harmful"), found
        # 5 % of 20 s, and what an interval more loses.
        decided = [one.event for one in await events_of(root, errors)]
        long_s = max(one.elapsed_s for one in decided if isinstance(one, SteeringDecided))
        assert 1 < found.lost_s < 1.5 + long_s
        assert found.elapsed_s < 20
        assert "its original size is restored" in errors
        assert (await target_with(root, program.pid)).steering is None


async def test_a_signal_ends_a_sweep_and_restores_the_size(root: Installation) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        process = await start_sweep(root, program.pid)
        assert process.stderr is not None
        assert b"0 rounds measured" in await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 3, errors
        assert b"no result" in errors
        assert (await target_with(root, program.pid)).steering is None
