"""`tidscope sizes`: programs in a control group with a CPU limit."""

import asyncio
import os
import sys

import pytest
from backend_server import TOKEN
from capabilities import needs
from installation import Installation
from programs.agent_program import ORIGINAL, AgentFolder, AgentProgram
from programs.cpu_quota import cpu_quota
from programs.go_programs import GoProgramRun
from programs.named_java import NamedJava
from tidscope_wire.generated.models import SizeAudit, SizedProgram

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
]


async def sizes(root: Installation, *arguments: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "sizes", "--port", str(root.backend.port)),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode()


async def audited(root: Installation, pid: int, pool: str = "GOMAXPROCS") -> SizedProgram:
    """Audit a pool; a program that a busy machine keeps from answering has no size."""
    while True:
        _, out = await sizes(root, "--json")
        audit = SizeAudit.model_validate_json(out)
        for one in audit.programs:
            if (one.process.pid, one.pool) == (pid, pool) and one.size is not None:
                return one


async def test_a_program_with_more_threads_than_its_limit_is_found(root: Installation) -> None:
    cpus = len(os.sched_getaffinity(0))
    with GoProgramRun(gomaxprocs=cpus + 6) as program, cpu_quota(program.pid, 1.5) as folder:
        found = await audited(root, program.pid)
        assert (found.size, found.chosen) == (cpus + 6, "environment")
        assert (found.allowance.cpus, found.allowance.limit_cores) == (cpus, 1.5)
        assert found.allowance.limit_group == str(folder)
        assert found.allowance.periods is not None
        assert found.verdict == "too-large"
        assert found.change == f"GOMAXPROCS={cpus}"
        code, text = await sizes(root)
        assert code == 1
        assert f"(pid {program.pid}, " in text
        assert "limit 1.5 cores" in text


async def test_what_a_program_has_set_itself_is_changed_there(root: Installation) -> None:
    cpus = len(os.sched_getaffinity(0))
    with GoProgramRun((cpus + 3,), gomaxprocs=1) as program:
        before = await audited(root, program.pid)
        assert (before.size, before.chosen) == (1, "environment")
        assert before.verdict == ("too-small" if cpus > 1 else "fits")
        assert program.step() == cpus + 3
        after = await audited(root, program.pid)
        assert (after.size, after.chosen) == (cpus + 3, "program")
        assert after.change == f"runtime.GOMAXPROCS({cpus})"


async def test_what_the_runtime_chose_fits(root: Installation) -> None:
    with GoProgramRun(gomaxprocs=None) as program:
        found = await audited(root, program.pid)
        assert found.verdict == "fits"
        assert found.change is None
        _, text = await sizes(root)
        assert f"(pid {program.pid}, " not in text
        _, text = await sizes(root, "--all")
        assert f"(pid {program.pid}, " in text


async def test_a_java_virtual_machine_without_an_agent(root: Installation) -> None:
    cpus = len(os.sched_getaffinity(0))
    given = f"-XX:ActiveProcessorCount={cpus + 2}"
    with NamedJava(["worker"], [given]) as java:
        found = await audited(root, java.pid, "Active processors")
        assert (found.size, found.source, found.chosen) == (cpus + 2, "hsperfdata", "environment")
        assert found.verdict == "too-large"
        assert found.change == f"-XX:ActiveProcessorCount={cpus}"
        assert "-XX:ActiveProcessorCount" in found.why


async def test_pools_that_agents_report(root: Installation) -> None:
    with AgentFolder() as folder, AgentProgram("python", folder) as program:
        found = await audited(root, program.pid, "pool")
        assert (found.size, found.source, found.kind) == (ORIGINAL, "agent", "threads")
        # Workers may wait for something: no number of them is wrong by itself.
        assert (found.verdict, found.change) == ("unknown", None)
