"""Proofs of `cooperative` on programs with agents: a Go server with a mutex, and a Java pool."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from backend_server import TOKEN
from capabilities import needs
from installation import Installation
from programs.agent_program import AgentFolder
from programs.steered import Steered, mutex_go, paced_java
from tidscope_wire.generated.models import ProofState

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]

BRIEF = os.environ.get("TIDSCOPE_FULL_PROOFS") is None


async def proven(root: Installation, pid: int, folder: Path) -> ProofState:
    brief = ("--block", "4", "--smallest", "20", "--most", "150", "--set", "interval_s=0.5")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "prove", "--port", str(root.backend.port)),
        *("--pid", str(pid), "--policy", "cooperative", "--json", *(brief if BRIEF else ())),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )
    out, errors = await process.communicate()
    assert out, errors
    print(errors.decode())
    return ProofState.model_validate(json.loads(out))


async def test_a_go_server_with_a_mutex_and_a_java_pool(root: Installation, tmp_path: Path) -> None:
    with (
        AgentFolder() as folder,
        Steered(mutex_go(), folder) as server,
        Steered(paced_java(16, 6), folder) as pool,
    ):
        mutex, crowded = await asyncio.gather(
            proven(root, server.pid, tmp_path), proven(root, pool.pid, tmp_path)
        )
    print(mutex, crowded)
    # A pool of 16 that does a third more, and three times as much, with fewer workers.
    assert crowded.verdict == "better", crowded
    assert mutex.verdict in ("better", "same"), mutex
