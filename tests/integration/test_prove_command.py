"""`tidscope prove`: on pools whose gain is planted."""

import asyncio
import json
import os
import signal
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from backend_server import TOKEN
from capabilities import needs
from programs.agent_program import AgentFolder
from programs.steered import Steered, planted_gain
from tidscope_wire.generated.models import ProofState, RunEventsResponse, Target
from whole_site import Site

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
]

TWO_WORKERS = ("--policy", "fixed", "--set", "size=2", "--set", "interval_s=0.5")


async def start(root: Site, pid: int, folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "prove", "--port", str(root.backend.port)),
        *("--pid", str(pid), *TWO_WORKERS, *arguments),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )


async def prove(root: Site, pid: int, folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = await start(root, pid, folder, *arguments)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def steering_of(root: Site, pid: int) -> Target:
    (target,) = [one for one in await root.targets() if one.process.pid == pid]
    return target


async def test_what_is_planted_is_shown(root: Site, tmp_path: Path) -> None:
    """A gain, none, and a loss; at the same time, since the programs only wait."""
    with (
        AgentFolder() as folder,
        Steered(planted_gain(1.5), folder) as faster,
        Steered(planted_gain(1.0), folder) as same,
        Steered(planted_gain(0.5), folder) as slower,
    ):
        blocks = ("--block", "2", "--smallest", "25", "--most", "200")
        found = await asyncio.gather(
            prove(root, faster.pid, tmp_path, *blocks, "--json"),
            prove(root, same.pid, tmp_path, *blocks, "--json"),
            prove(root, slower.pid, tmp_path, *blocks, "--json"),
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
        assert 0.4 < loss.lost_s < 2
        # Only what is better goes on.
        targets = [await steering_of(root, one.pid) for one in (faster, same, slower)]
        assert targets[0].steering is not None
        assert targets[0].steering.size == 2
        assert [one.steering for one in targets[1:]] == [None, None]
        assert "restored" not in found[0][2]
        assert "its original size is restored" in found[1][2]

        picture = tmp_path / f"proof-fixed-{faster.pid}.svg"
        drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
        assert gain.text in "".join(drawn.itertext())
        run = found[0][2].split("run ")[-1].split(",")[0]
        answer = await root.client.get(f"/api/v1/runs/{run}/events")
        events = RunEventsResponse.model_validate_json(answer.raise_for_status().content).events
        assert [one.event.type for one in events].count("steering_proven") == 1


async def test_a_signal_ends_it_and_restores_the_size(root: Site, tmp_path: Path) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        process = await start(root, program.pid, tmp_path)
        assert process.stderr is not None
        # The first line says how the proof stands: it steers now.
        assert b"no gain is known" in (await process.stderr.readline()).lower()
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 3, errors
        assert b"no result" in errors
        assert (await steering_of(root, program.pid)).steering is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loss", "0"), "0.1"),
        (("--knob", "go-agent"), "not a go-agent"),
    ],
)
async def test_what_cannot_be_proven_is_refused(
    root: Site, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    with AgentFolder() as folder, Steered(planted_gain(1.0), folder) as program:
        code, out, errors = await prove(root, program.pid, tmp_path, *arguments)
        assert code != 0
        assert out == ""
        assert words in errors
