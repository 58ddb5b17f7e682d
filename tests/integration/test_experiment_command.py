"""`tidscope experiment`: whole experiments, resumed ones, and what goes wrong."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from backend_server import TOKEN
from capabilities import needs
from installation import Installation
from programs.agent_program import AgentFolder
from tidscope_backend.experiments.journal import Repeated, experiment_folders, read_journal
from tidscope_policies.registry import POLICIES
from tidscope_wire.generated.models import (
    Experiment,
    ExperimentsResponse,
    RunManifest,
    RunsResponse,
)

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(900),
]
ANSWERING = Path(__file__).parents[1] / "programs" / "answering_workload"
HEAD = 'version = 1\nname = "test"\ntitle = "A test"\n'
RESTLESS = {"bidirectional", "bidirectional-printed", "pss", "ait", "ait-printed"}
SHORT = "[time]\nsettle_s = 0.0\nwarm_up_s = 0.0\nmeasure_s = 0.2\n"


def answering(more: str) -> str:
    return f'{HEAD}[[program]]\nworkload = "{ANSWERING}/"\n{SHORT}{more}'


@asynccontextmanager
async def experiment(
    root: Installation,
    folder: Path,
    text: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    (folder / "test.toml").write_text(text)
    assert root.backend.settings.runs_dir is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", "experiment", str(folder / "test.toml")),
        *("--port", str(root.backend.port), "--json", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "TIDSCOPE_TOKEN": TOKEN,
            "TIDSCOPE_RUNS": str(root.backend.settings.runs_dir),
            **(env or {}),
        },
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def carried_out(
    root: Installation,
    folder: Path,
    text: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
) -> tuple[int, Experiment, str]:
    async with experiment(root, folder, text, *arguments, env=env) as process:
        out, errors = await process.communicate()
    assert out, errors.decode()
    assert process.returncode is not None
    return process.returncode, Experiment.model_validate(json.loads(out)), errors.decode()


def throughput(found: Experiment) -> dict[str, list[float | None]]:
    return {
        cell.key: next((one.figure.values for one in cell.figures if one.name == "throughput"), [])
        for cell in found.cells
    }


async def test_a_policy_is_measured_against_the_default(root: Installation, tmp_path: Path) -> None:
    """A pool that sleeps: with two workers it does twice as much, and jobs wait half as long."""
    text = f"""{HEAD}
[[program]]
workload = "pool-trace"
language = "python"
free_workload = 500
queue = 4
[matrix]
size = [1]
policy = ["default", "fixed"]
[steering]
upper = 4
parameters.fixed = {{ size = 2, interval_s = 0.5 }}
[quick]
time = {{ settle_s = 0.0, warm_up_s = 0.0, measure_s = 2.0 }}
"""
    with AgentFolder() as folder:
        env = {"TIDSCOPE_AGENT_DIR": str(folder)}
        bounds = ("--fail-if", "throughput > 5%", "--fail-if", "throughput < -50%")
        code, found, errors = await carried_out(root, tmp_path, text, "--quick", *bounds, env=env)
    # Two repeats on a busy machine may vary too much for a decision.
    (decision,) = re.findall(
        r"throughput > 5%: (exceeded|not decided): size=1 policy=fixed", errors
    )
    assert code == (2 if decision == "exceeded" else 0), errors
    default, fixed = found.cells
    assert [len(one.runs) for one in found.cells] == [2, 2]
    figures = {one.name: one for one in fixed.figures}
    gain = figures["throughput"].gain
    assert gain is not None
    assert gain.percent is not None
    # Some jobs of half a second; one that a busy machine delays counts for much.
    assert 0 < gain.percent < 300
    assert figures["size_at_end"].figure.mean == 2
    # The policy had settled, and decides twice a second.
    assert figures["chosen_share"].figure.mean == 1
    assert figures["searching_share"].figure.mean == 0
    assert (figures["settling_decisions"].figure.mean or 0) >= 3
    assert (figures["decisions"].figure.mean or 0) >= 1
    wait = figures["wait_us"].gain
    assert wait is not None
    assert wait.percent is not None
    assert wait.percent < 0
    assert (figures["mean_cores"].figure.mean or 0) > 0
    # Each repeat is a run, and a cell is a group.
    answer = await root.client.get("/api/v1/runs")
    runs = {
        run.id: run
        for run in RunsResponse.model_validate_json(answer.raise_for_status().content).runs
    }
    groups = {runs[run].group for run in fixed.runs}
    assert len(groups) == 1
    assert groups != {runs[run].group for run in default.runs}
    assert list(runs[fixed.runs[0]].policies) == ["fixed"]
    # The page has the same numbers.
    answer = await root.client.get(f"/api/v1/experiments/{found.summary.id}")
    shown = Experiment.model_validate_json(answer.raise_for_status().content)
    assert [(one.key, one.runs, one.standing) for one in shown.cells] == [
        (one.key, one.runs, one.standing) for one in found.cells
    ]
    assert [one.id for one in shown.charts] == [one.id for one in found.charts]
    folder = experiment_folders(root.backend.settings.runs_dir)[0]
    repeats = [one for one in read_journal(folder) if isinstance(one, Repeated)]
    sizes = {one.cell: {each for each in one.seconds["size"] if each} for one in repeats}
    assert sizes == {"size=1 policy=default": {1}, "size=1 policy=fixed": {2}}
    for name in ("report.html", "report.md", "repeats.parquet", "gains.svg", "experiment.toml"):
        assert (folder / name).stat().st_size > 0


async def test_every_policy_acts_in_a_quick_experiment(root: Installation, tmp_path: Path) -> None:
    """Real pools that sleep: each policy settles, and decides while it is measured."""

    async def experiment_with(at: int, policies: list[str]) -> Experiment:
        bounds = ", ".join(f"{name} = 8" for name in policies if name in RESTLESS)
        parameters = "\n".join(
            f"parameters.{name} = {{ interval_s = 0.5{', warm_up_s = 0' * (name == 'linear')} }}"
            for name in policies
        )
        text = f"""version = 1
name = "part-{at}"
title = "Policies act"
[[program]]
workload = "pool-trace"
language = "python"
free_workload = 20
queue = 4
[matrix]
policy = {["default", *policies]}
[steering]
upper = 2
settle = {{ {bounds} }}
{parameters}
[quick]
time = {{ settle_s = 0.0, warm_up_s = 0.0, measure_s = 1.5 }}
repeats = {{ least = 1, most = 1 }}
"""
        made = tmp_path / str(at)
        made.mkdir()
        code, found, errors = await carried_out(root, made, text, "--quick", env=env)
        assert code == 0, errors
        return found

    names = list(POLICIES)
    parts = [names[at::3] for at in range(3)]
    with AgentFolder() as folder:
        env = {"TIDSCOPE_AGENT_DIR": str(folder)}
        # They wait for intervals, most of the time.
        found = await asyncio.gather(*map(experiment_with, range(3), parts))
    for policies, one in zip(parts, found, strict=True):
        assert one.summary.preset == "quick"
        default, *steered = one.cells
        assert [cell.key for cell in steered] == [f"policy={name}" for name in policies]
        unsteered = {figure.name for figure in default.figures}
        assert not unsteered & {
            "decisions",
            "settling_decisions",
            "chosen_share",
            "searching_share",
        }
        for cell in steered:
            figures = {figure.name: figure.figure.mean or 0.0 for figure in cell.figures}
            assert figures["settling_decisions"] >= 1, cell
            assert figures["decisions"] >= 1, cell
            assert 0 < figures["chosen_share"] <= 1, cell
            assert 0 <= figures["searching_share"] <= 1, cell
            gain = next(figure.gain for figure in cell.figures if figure.name == "throughput")
            # A repeat without a decision comes again, in another round than the default's.
            assert gain is not None or cell.failures or default.failures, cell


async def test_a_killed_experiment_is_resumed(root: Installation, tmp_path: Path) -> None:
    text = answering("[matrix]\nsize = [1, 2, 3]\n[repeats]\nleast = 2\nmost = 2\n")
    async with experiment(root, tmp_path, text) as process:
        assert process.stderr is not None
        # Two repeats are done; it dies in the third.
        done = 0
        async for line in process.stderr:
            done += b"a second; " in line
            if done == 2:
                break
        process.kill()
        await process.communicate()
    folder = experiment_folders(root.backend.settings.runs_dir)[0]
    before = [one for one in read_journal(folder) if isinstance(one, Repeated)]
    assert 2 <= len(before) < 6
    # A program that it was starting has the journal open until it is there itself.
    while True:
        answer = await root.client.get("/api/v1/experiments")
        listed = ExperimentsResponse.model_validate_json(answer.raise_for_status().content)
        if listed.experiments[0].state != "running":
            break
        await asyncio.sleep(0.05)
    assert listed.experiments[0].state == "interrupted"
    code, found, errors = await carried_out(root, tmp_path, text, "--resume")
    assert code == 0, errors
    assert f"{len(before)} repeats are done already" in errors
    assert found.summary.id == folder.name
    assert found.summary.state == "complete"
    assert throughput(found) == {f"size={size}": [100.0 * size] * 2 for size in (1, 2, 3)}
    after = [one for one in read_journal(folder) if isinstance(one, Repeated)]
    assert after[: len(before)] == before
    async with experiment(root, tmp_path, text, "--resume") as process:
        _, said = await process.communicate()
    assert process.returncode == 1
    assert b"no unfinished experiment test of this very file" in said


async def test_an_interrupted_experiment_says_so(root: Installation, tmp_path: Path) -> None:
    text = answering("[matrix]\nsize = [1, 2]\n[repeats]\nleast = 2\nmost = 50\n").replace(
        "measure_s = 0.2", "measure_s = 3600"
    )
    async with experiment(root, tmp_path, text) as process:
        while True:
            answer = await root.client.get("/api/v1/experiments")
            listed = ExperimentsResponse.model_validate_json(answer.content).experiments
            if listed and listed[0].state == "running" and listed[0].targets:
                break
            assert process.returncode is None, await process.communicate()
            await asyncio.sleep(0.1)
        assert (listed[0].cell, len(listed[0].targets)) in {("size=1", 1), ("size=2", 1)}
        process.terminate()
        _, errors = await process.communicate()
    assert process.returncode == 130, errors
    assert b"interrupted; continue with --resume" in errors


async def test_a_workload_that_crashes_does_not_stop_the_others(
    root: Installation, tmp_path: Path
) -> None:
    text = answering(
        '[matrix]\nmood = ["crashes", "restless", "well"]\nsize = [1]\n'
        "[repeats]\nleast = 2\nmost = 3\n"
    )
    code, found, errors = await carried_out(root, tmp_path, text)
    assert code == 3, errors
    crashed, restless, well = found.cells
    assert (crashed.standing, len(crashed.failures)) == ("failed", 3)
    assert "answering ended with exit code 1: it was to crash" in crashed.failures[0]
    assert "it was to crash" in errors
    # A bound that is never reached ends at the maximum; one that is, at the least number.
    assert (restless.standing, well.standing) == ("maximum", "steady")
    values = throughput(found)
    assert len(values[restless.key]) == 3
    assert values[well.key] == [100.0, 100.0]
    for target in await root.targets():
        assert target.state != "attached"


async def test_a_missing_load_generator_is_said_before_anything_runs(
    root: Installation, tmp_path: Path
) -> None:
    before = experiment_folders(root.backend.settings.runs_dir)
    text = f'{HEAD}[[program]]\nworkload = "web"\n'
    async with experiment(root, tmp_path, text, env={"PATH": str(tmp_path)}) as process:
        out, errors = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert b"the load generator wrk is missing: install the package wrk" in errors
    assert experiment_folders(root.backend.settings.runs_dir) == before


async def test_workloads_of_this_machine_run_side_by_side(
    root: Installation, tmp_path: Path
) -> None:
    """Real programs: PostgreSQL under pgbench, fetches beside curl, fio and iperf3."""
    text = f"""{HEAD}
[[program]]
workload = "postgres"
script = "select-only"
scale = 1
[[program]]
workload = "get"
every_s = 0.25
[[program]]
workload = "disk"
access = "buffered"
engine = "psync"
file_mib = 8
folder = "temporary"
[[program]]
workload = "net"
[time]
settle_s = 0.0
warm_up_s = 0.0
measure_s = 3.0
[repeats]
least = 2
most = 2
deviation = 0.9
"""
    code, found, errors = await carried_out(root, tmp_path, text)
    assert code == 0, errors
    (cell,) = found.cells
    assert cell.failures == []
    assert len(cell.runs) == 2 * 4
    means = {one.name: one.figure.mean or 0.0 for one in cell.figures}
    database, fetches, reads, blocks = (means[f"throughput_{at}"] for at in (1, 2, 3, 4))
    assert database > 0
    # Four a second at most; the others take the CPUs that it needs.
    assert 0 < fetches < 6
    # Reads of 64 KiB from the page cache, and of 32 KiB over loopback.
    assert reads > 10
    assert blocks > 10
    answer = await root.client.get(f"/api/v1/runs/{cell.runs[0]}")
    database_run = RunManifest.model_validate_json(answer.raise_for_status().content)
    # The server is below the program of the workload, and recorded with it.
    assert database_run.target.group is not None
    assert database_run.target.group.kind == "tree"


async def test_a_web_service_is_built_and_measured(root: Installation, tmp_path: Path) -> None:
    text = f"""{HEAD}
[[program]]
workload = "web"
framework = "gin"
connections = 4
[time]
settle_s = 0.0
warm_up_s = 0.0
measure_s = 1.0
[repeats]
least = 2
most = 2
deviation = 0.9
"""
    with AgentFolder() as folder:
        env = {"TIDSCOPE_AGENT_DIR": str(folder)}
        code, found, errors = await carried_out(root, tmp_path, text, env=env)
    assert code == 0, errors
    (cell,) = found.cells
    figures = {one.name: one.figure.mean for one in cell.figures}
    assert (figures["throughput"] or 0) > 10
    assert 0 < (figures["p50_us"] or 0) <= (figures["p95_us"] or 0)
    assert figures["errors"] == 0
