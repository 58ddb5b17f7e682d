"""`tidscope steer`: the same as the page's buttons, in a terminal."""

import asyncio
import json
import os
import signal
import sys

import pytest
from backend_server import TOKEN
from capabilities import needs
from programs.agent_program import AgentFolder
from programs.steered import Steered, contended_go
from tidscope_wire.generated.models import Steering
from whole_site import Site

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
]


async def start(root: Site, *arguments: str, token: str = TOKEN) -> asyncio.subprocess.Process:
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


async def run(root: Site, *arguments: str, token: str = TOKEN) -> tuple[int, str, str]:
    process = await start(root, *arguments, token=token)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def test_until_a_signal_comes(root: Site) -> None:
    with AgentFolder() as folder, Steered(contended_go(), folder) as program:
        pid = str(program.pid)
        code, out, _ = await run(root, "--pid", pid, "--options")
        assert code == 0
        assert "knob    go-agent       1 to 8\n" in out
        assert "signal  agent-ops" in out
        assert "kalman-kg" in out

        process = await start(
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

        code, _, _ = await run(root, "--pid", pid, "--restart")
        assert code == 0
        process.send_signal(signal.SIGINT)
        _, errors = await process.communicate()
        assert process.returncode == 0
        assert b"its original size is restored" in errors
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is None


async def test_it_can_be_left_and_released_later(root: Site) -> None:
    with AgentFolder() as folder, Steered(contended_go(), folder) as program:
        pid = str(program.pid)
        code, out, errors = await run(
            root, "--pid", pid, "--policy", "fixed", "--upper", "2", "--duration", "1", "--keep"
        )
        assert code == 0, errors
        assert "fixed" in out
        (target,) = [one for one in await root.targets() if one.process.pid == program.pid]
        assert target.steering is not None
        assert target.steering.upper == 2
        assert (await run(root, "--pid", pid, "--release"))[0] == 0
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
    root: Site, arguments: tuple[str, ...], words: str
) -> None:
    code, out, errors = await run(root, "--pid", str(os.getpid()), *arguments)
    assert code != 0
    assert out == ""
    assert words in errors


async def test_without_a_token_it_says_where_to_find_one(root: Site) -> None:
    code, _, errors = await run(root, "--pid", "1", token="")
    assert code != 0
    assert "TIDSCOPE_TOKEN" in errors


async def test_a_command_that_is_killed_leaves_nothing_steered(root: Site) -> None:
    with AgentFolder() as folder, Steered(contended_go(), folder) as program:
        pid = str(program.pid)
        process = await start(root, "--pid", pid, "--policy", "fixed", "--upper", "2")
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
