"""Proofs of `cooperative` on a Go server with a mutex, and on a Java pool."""

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

BRIEF = ("--block", "4", "--smallest", "20", "--most", "150", "--set", "interval_s=0.5")


async def proven(root: Installation, pid: int, folder: Path) -> ProofState:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "prove", "--port", str(root.backend.port)),
        *("--pid", str(pid), "--policy", "cooperative", "--json", *BRIEF),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )
    out, errors = await process.communicate()
    assert out, errors
    return ProofState.model_validate(json.loads(out))


async def test_each_proof_ends_and_what_is_better_names_the_line_that_keeps_it(
    root: Installation, tmp_path: Path
) -> None:
    with (
        AgentFolder() as folder,
        Steered(mutex_go(), folder) as server,
        Steered(paced_java(16, 6), folder) as pool,
    ):
        mutex, paced = await asyncio.gather(
            *(proven(root, one.pid, tmp_path) for one in (server, pool))
        )
    # The server computes: what it gets beside others on a busy host decides.
    assert mutex.verdict != "open", mutex
    assert paced.verdict == "better", paced
    assert "to keep that without the policy: Executors.newFixedThreadPool(" in paced.text
