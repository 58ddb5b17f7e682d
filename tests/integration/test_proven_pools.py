"""Proofs of `cooperative` on a Go server with a mutex, and on steered pools in Go and Java."""

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
from programs.steered import Steered, crowded_go, mutex_go, paced_java
from tidscope_wire.generated.models import ProofState

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]

BRIEF = os.environ.get("TIDSCOPE_FULL_PROOFS") is None


async def proven(root: Installation, pid: int, folder: Path) -> ProofState:
    brief = (
        "--block",
        "4",
        "--smallest",
        "20",
        "--most",
        "150",
        "--set",
        "interval_s=0.5",
    )
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "tidscope_backend",
            "prove",
            "--port",
            str(root.backend.port),
        ),
        *(
            "--pid",
            str(pid),
            "--policy",
            "cooperative",
            "--json",
            *(brief if BRIEF else ()),
        ),
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


async def test_each_proof_ends_and_what_is_better_names_the_line_that_keeps_it(
    root: Installation, tmp_path: Path
) -> None:
    with (
        AgentFolder() as folder,
        Steered(mutex_go(), folder) as server,
        Steered(crowded_go(), folder) as workers,
        Steered(paced_java(16, 6), folder) as pool,
    ):
        mutex, crowded, paced = await asyncio.gather(
            *(proven(root, one.pid, tmp_path) for one in (server, workers, pool))
        )
    # The server computes: what it gets beside others on a busy host decides.
    assert mutex.verdict != "open", mutex
    assert (crowded.verdict, paced.verdict) == ("better", "better"), (crowded, paced)
    for proof, line in (
        (crowded, "tidscope.NewPool(name, "),
        (paced, "Executors.newFixedThreadPool("),
    ):
        if "most of the time" in proof.text:
            assert f"to keep that without it: {line}" in proof.text
