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
from processes import start_ticks
from programs.agent_program import AgentFolder
from programs.steered import Steered, mutex_go, paced_java
from tidscope_collector.agent.client import open_agent
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import ProofState

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]

BRIEF = (
    "--release",
    "--block",
    "4",
    "--smallest",
    "20",
    "--most",
    "150",
    "--set",
    "interval_s=0.5",
)


def size_of(pid: int) -> int:
    client = open_agent(ProcFs(), pid, start_ticks(pid), timeout_s=60, opening_s=10)
    try:
        return client.read().size
    finally:
        client.close()


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


def assert_fits(state: ProofState) -> None:
    """Check that a proof has ended, and that its verdict and sentence say what was measured."""
    gain, low, high = state.gain_percent, state.low_percent, state.high_percent
    if state.verdict == "harmful":
        # More than 5 % was lost, and the pairs do not show the contrary.
        assert state.lost_s > 0.05 * state.elapsed_s
        assert f"lost {state.lost_s:.1f} s of work" in state.text
        assert low is None or low <= 0, state
        return
    assert state.verdict in ("better", "worse", "same", "unsettled"), state
    assert gain is not None and state.pairs >= 3, state
    assert low is None or high is None or low <= gain <= high
    signs = {"better": (low or -1) > 0, "worse": high is not None and high < 0}
    assert signs.get(state.verdict, True), state
    assert f"{gain / 100:+.1%} [" in state.text or low is None, state


@pytest.mark.timeout(600)
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
        sizes = await asyncio.gather(
            *(asyncio.to_thread(size_of, one.pid) for one in (server, pool))
        )
    assert sizes == [8, 1]
    # The server computes: what it gets beside others on a busy host decides how its proof ends.
    for one in (mutex, paced):
        assert_fits(one)
    assert paced.verdict == "better", paced
    assert "to keep that without the policy: Executors.newFixedThreadPool(" in paced.text
