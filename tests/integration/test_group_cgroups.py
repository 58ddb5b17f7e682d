"""Control groups with real programs in them, chosen on the command line as units and containers."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from backend_server import TOKEN, running_backend
from capabilities import needs
from group_targets import GROUPS, MOUNTED, control_group, move
from installation import Installation
from processes import descendants, wait_until
from receiver import Follower, connected
from tidscope_backend.notebook import open_run
from tidscope_processes import CollectorProcess
from tidscope_wire.generated.models import (
    LiveState,
    Process,
    ProcessesResponse,
    RunManifest,
    Target,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), needs("root"), needs("btf")]

OWN = f"tidscope-test-{os.getpid()}"
ID = f"{os.getpid():064x}"
RUNTIMES = ("docker", "podman", "kubernetes")
POD = f"{os.getpid():08x}_1111_2222_3333_444455556666"


UNFOLLOWED = [one for one in ("systemd", "pids") if (GROUPS / one / "cgroup.procs").exists()]
"""Hierarchies of version 1 without cpuacct; none where version 2 is the only one."""


@contextmanager
def program_in(mount: str, path: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a control group of its own."""
    with control_group(mount, path) as folder, subprocess.Popen(["sleep", "600"]) as program:
        try:
            move(program.pid, folder)
            yield program
        finally:
            program.kill()
            program.wait()


async def begun(port: int, *arguments: str) -> asyncio.subprocess.Process:
    """Start a command of the command line."""
    verb, *rest = arguments
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", verb, "--port", str(port), *rest),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TIDSCOPE_TOKEN": TOKEN},
    )


async def tidscope(port: int, *arguments: str) -> tuple[int, str, str]:
    """A command of the command line: exit code, and what it says."""
    process = await begun(port, *arguments)
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def listed(here: Installation, pid: int) -> Process:
    """Entry of a process in the picker."""
    answer = await here.client.get("/api/v1/processes")
    processes = ProcessesResponse.model_validate_json(answer.raise_for_status().content).processes
    return next(one for one in processes if one.pid == pid)


async def described(here: Installation, pid: int) -> Process:
    """Entry of a process whose files were read: a listing goes on without those that are late."""
    while True:
        process = await listed(here, pid)
        if process.executable is not None:
            return process
        await asyncio.sleep(0.2)


CHOICES = {
    "cgroup": (f"{OWN}/deeper", ("--cgroup", f"/{OWN}")),
    "unit": (f"system.slice/{OWN}.service", ("--unit", OWN)),
    "docker": (f"system.slice/docker-{ID}.scope", ("--container", ID[:12])),
    "podman": (f"machine.slice/libpod-{ID}.scope", ("--container", ID)),
    "kubernetes": (
        f"kubepods.slice/kubepods-pod{POD}.slice/cri-containerd-{ID}.scope",
        ("--container", ID[:12]),
    ),
    "pod": (
        f"kubepods/burstable/pod{POD.replace('_', '-')}/{ID}",
        ("--pod", POD.replace("_", "-")),
    ),
}
"""Control group of the program, and the selector that chooses it."""


@pytest.mark.parametrize("mount", MOUNTED)
@pytest.mark.parametrize("kind", CHOICES)
async def test_a_group_is_chosen_on_the_command_line(
    root: Installation, mount: str, kind: str
) -> None:
    path, (option, value) = CHOICES[kind]
    with program_in(mount, path) as program:
        code, out, errors = await tidscope(root.backend.port, "attach", "--json", option, value)
        assert (code, errors) == (0, "")
        target = Target.model_validate_json(out)
        process = await listed(root, program.pid)
    assert target.process.pid == program.pid
    assert target.group is not None
    assert (target.group.kind, target.group.value) == (option[2:], value)
    assert target.group.discovery == "ebpf"
    inside = process.container
    runtime = {"pod": "kubernetes"}.get(kind, kind if kind in RUNTIMES else None)
    assert (None if inside is None else inside.runtime) == runtime
    assert process.unit == (f"{OWN}.service" if kind == "unit" else None)
    if runtime == "kubernetes":
        assert inside is not None
        assert inside.pod == POD.replace("_", "-")


@pytest.mark.parametrize("mount", MOUNTED)
async def test_all_containers_of_a_pod_are_one_group(root: Installation, mount: str) -> None:
    pod = f"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{POD}.slice"
    paths = [f"{pod}/cri-containerd-{digit * 64}.scope" for digit in "ab"]
    with program_in(mount, paths[0]) as first, program_in(mount, paths[1]) as second:
        code, out, errors = await tidscope(
            root.backend.port, "attach", "--json", "--pod", POD.replace("_", "-")
        )
        assert (code, errors) == (0, "")
        target = Target.model_validate_json(out)
        async with root.backend.page() as page:
            await connected(page)
            await page.subscribe(target.id)
            header = await Follower(page).until(lambda one: one.live_threads == 2)
    assert target.group is not None
    assert (target.group.kind, target.group.cgroup) == ("pod", f"/{pod}")
    assert target.group.name == f"pod {POD.replace('_', '-')}"
    assert target.process.pid in (first.pid, second.pid)
    assert header.group is not None
    assert header.group.live == 2


def join(folder: Path) -> subprocess.Popen[bytes]:
    """A program that goes into a control group by itself."""
    shell = f"echo $$ > {folder}/cgroup.procs; exec sleep 600"
    return subprocess.Popen(["sh", "-c", shell])


async def test_a_unit_is_recorded_with_who_comes_into_it(tmp_path: Path) -> None:
    path = f"system.slice/{OWN}.service"
    with program_in(MOUNTED[0], path) as program:
        async with (
            running_backend(command_seconds=60, runs_dir=tmp_path / "runs") as backend,
            CollectorProcess(backend.port),
            backend.page() as page,
            backend.program() as client,
        ):
            await connected(page)
            recording = await begun(backend.port, "record", "--json", "--unit", OWN)
            while not (state := await page.text(LiveState)).targets:
                continue
            (target,) = state.targets
            while not (await client.get("/api/v1/runs")).raise_for_status().json()["runs"]:
                pass
            await page.subscribe(target.id)
            with join(GROUPS / MOUNTED[0] / path) as second:
                follower = Follower(page)
                header = await follower.until(
                    lambda one: one.group is not None and one.group.live == 2
                )
                recording.terminate()
                out, errors = await recording.communicate()
                second.kill()
    assert recording.returncode == 0, errors
    assert header.group is not None
    assert (header.group.started, header.group.missed) == (1, 0)
    manifest = RunManifest.model_validate_json(out)
    assert manifest.target.process.pid == program.pid
    found = open_run(tmp_path / "runs" / manifest.id).threads().to_pylist()
    assert {program.pid, second.pid} <= {one["pid"] for one in found}


async def test_a_group_that_is_not_there(root: Installation) -> None:
    for option, value in (("--cgroup", f"/{OWN}"), ("--unit", OWN), ("--container", ID)):
        code, _, errors = await tidscope(root.backend.port, "attach", option, value)
        assert code != 0
        assert "no process that can be attached to is now in the group" in errors


@pytest.mark.parametrize("mount", UNFOLLOWED[:1])
async def test_a_hierarchy_in_which_nobody_is_followed_is_looked_at(
    root: Installation, mount: str
) -> None:
    with program_in(mount, OWN) as program:
        code, out, errors = await tidscope(
            root.backend.port, "attach", "--json", "--cgroup", f"/{OWN}"
        )
        assert (code, errors) == (0, "")
    target = Target.model_validate_json(out)
    assert target.process.pid == program.pid
    assert target.group is not None
    assert target.group.discovery == "polling"
    assert "without cpuacct" in target.group.discovery_reason


INNER = """mount -t tmpfs none /mnt && echo captain:x:0:0::/: > /mnt/passwd &&
mount --bind /mnt/passwd /etc/passwd && echo there && exec sleep 600"""
APART = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc")


@contextmanager
def program_apart() -> Iterator[int]:
    """The id of a program of nobody in namespaces of its own, in which it is root with a name."""
    with subprocess.Popen(
        [*APART, "sh", "-c", INNER], stdout=subprocess.PIPE, text=True, user=65534, group=65534
    ) as outer:
        inner = 0
        try:
            assert outer.stdout is not None
            assert outer.stdout.readline() == "there\n"
            (inner,) = descendants(outer.pid)
            wait_until(lambda: Path(f"/proc/{inner}/exe").readlink().name == "sleep")
            yield inner
        finally:
            if inner:
                os.kill(inner, signal.SIGKILL)
            outer.kill()


async def test_ids_of_a_process_in_namespaces_of_its_own(root: Installation) -> None:
    with program_apart() as pid:
        process = await described(root, pid)
        code, out, errors = await tidscope(
            root.backend.port, "attach", "--json", "--tree", str(pid)
        )
    assert (process.namespace_pid, process.namespace_uid) == (1, 0)
    assert (process.uid, process.namespace_user) == (65534, "captain")
    assert (process.executable or "").endswith("/sleep")
    assert (code, errors) == (0, "")
    assert Target.model_validate_json(out).process.namespace_user == "captain"
