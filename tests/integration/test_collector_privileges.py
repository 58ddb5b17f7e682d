"""Rights of a running collector, read from /proc/PID/status of all of its threads."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from capabilities import delay_switch_kept, delays_are_on, needs
from installation import Installation, installation
from processes import arguments, children, thread_files, thread_names, wait_for_end, wait_until
from programs.confined import CONTAINER
from programs.known_work import KnownWork
from tidscope_collector.stacks.program import PROGRAM
from tidscope_confinement import capabilities
from tidscope_processes import WITHOUT_NET_ADMIN, hiding_processes
from tidscope_wire.generated.models import DoctorReport, ProgramExecuted

CONFINED = Path(__file__).parents[1] / "programs" / "confined.py"
pytestmark = needs("root")

LOOKING = {"CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH"}
OPENING = {*LOOKING, "CAP_CHECKPOINT_RESTORE"}
NOTHING: set[str] = set()
UNWINDING = {*OPENING, "CAP_BPF"}
LOADING = {*UNWINDING, "CAP_PERFMON", "CAP_SYSLOG"}


def statuses(pid: int) -> list[dict[str, str]]:
    """The status of each thread; of one that ends meanwhile there is none."""
    found = []
    for text in thread_files(pid, "status").values():
        lines = (line.partition(":") for line in text.splitlines())
        found.append({key: value.strip() for key, _, value in lines})
    return found


def names(mask: str) -> set[str]:
    """The capabilities in a mask of /proc/PID/status."""
    bits = int(mask, 16)
    return {capabilities.capability_name(bit) for bit in range(64) if bits >> bit & 1}


def is_confined(pid: int, wanted: set[str]) -> bool:
    """True if the collector has given up its other rights."""
    status = statuses(pid)[0]
    return names(status["CapPrm"]) == wanted and status["Seccomp"] == "2"


def keeps(pid: int, wanted: set[str]) -> bool:
    """True if a process has no more capabilities than these in any thread."""
    return all(names(status["CapPrm"]) == wanted for status in statuses(pid))


def assert_confined(
    pid: int, wanted: set[str], passed_on: set[str] = NOTHING, seccomp: str = "2"
) -> None:
    found = statuses(pid)
    assert found
    for status in found:
        for kind in ("CapEff", "CapPrm"):
            assert names(status[kind]) == wanted, (status["Name"], kind)
        for kind, held in (("CapInh", NOTHING), ("CapBnd", passed_on), ("CapAmb", NOTHING)):
            assert names(status[kind]) == held, (status["Name"], kind)
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == seccomp
        assert status["Groups"] == ""
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert any(line.split()[4:6] == ["0", "0"] for line in limits.splitlines() if "core" in line)


@pytest.mark.parametrize(
    ("within", "options", "wanted"),
    [
        ((), (), {"CAP_NET_ADMIN", "CAP_SYS_NICE"}),
        ((), ("--no-steering",), {"CAP_NET_ADMIN"}),
        ((), ("--network", "none"), {"CAP_NET_ADMIN", "CAP_SYS_NICE"}),
        # The kernel checks each reading of a thread's I/O in /proc.
        (WITHOUT_NET_ADMIN, (), {*LOOKING, "CAP_SYS_NICE"}),
        (WITHOUT_NET_ADMIN, ("--no-steering",), LOOKING),
        (hiding_processes(2), ("--no-steering",), {*LOOKING, "CAP_NET_ADMIN"}),
    ],
)
async def test_each_thread_of_a_running_collector_keeps_only_what_its_features_need(
    within: Sequence[str], options: Sequence[str], wanted: set[str]
) -> None:
    async with installation(within, options) as found:
        _, follower = await found.attach(os.getpid())
        await follower.next()
        # The sampling thread, too: capabilities belong to threads.
        assert len(statuses(found.collector.pid)) > 1
        assert_confined(found.collector.pid, wanted)


@needs("btf")
async def test_a_confined_collector_walks_threads() -> None:
    async with installation(options=("--no-steering", "--source", "walk")) as found:
        assert_confined(found.collector.pid, {"CAP_NET_ADMIN"})
        with KnownWork() as work:
            target, follower = await found.attach(work.pid)
            header = await follower.until(lambda header: header.seq > 3)
            assert header.counters_from == "walk"
            assert header.health.counters_disagreement is None
            assert header.live_threads == len(thread_names(work.pid))
            assert "read in one walk" in target.source.reason
        answer = await found.client.get("/api/v1/doctor")
        report = DoctorReport.model_validate_json(answer.raise_for_status().content)
        checks = {check.name: check.status for check in report.checks}
        assert checks["walk"] == "ok"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ((), {*OPENING, "CAP_DAC_OVERRIDE"}),
        (("--ask-programs",), {*OPENING, "CAP_DAC_OVERRIDE", "CAP_KILL"}),
        (("--ask-programs", "--thread-names", "kernel"), {*OPENING, "CAP_DAC_OVERRIDE"}),
        (("--no-steering",), OPENING),
    ],
)
async def test_the_process_that_opens_files_of_others_can_do_nothing_else(
    options: Sequence[str], wanted: set[str]
) -> None:
    async with installation(options=options) as found:
        server = await keeper_of(found)
        await asyncio.to_thread(wait_until, lambda: is_confined(server, wanted))
        assert_confined(server, wanted)
        await asyncio.to_thread(wait_until, lambda: len(children(server)) > 0)
        (forking,) = children(server)
        assert_confined(forking, wanted)


async def test_doctor_says_that_nothing_reads_other_processes_any_more() -> None:
    """The fork server is replaced when it is killed; not so who replaces it."""
    async with installation() as found:
        keeper = await keeper_of(found)
        await asyncio.to_thread(wait_until, lambda: len(children(keeper)) > 0)
        server = children(keeper)[0]
        os.kill(server, signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: children(keeper) not in ([], [server]))
        assert await process_reader(found) == "ok"
        (server,) = children(keeper)
        for pid in (keeper, server):
            os.kill(pid, signal.SIGKILL)
        # At once: Doctor asks who is left, and does not go by whether somebody is there.
        assert await process_reader(found) == "limited"
        # Sampling goes on, of new targets too.
        _, follower = await found.attach(os.getpid())
        await follower.next()


async def keeper_of(found: Installation) -> int:
    """Process that keeps the fork server, once it has given up most rights: none waits for that."""

    def is_keeper(pid: int) -> bool:
        return "CAP_SYS_ADMIN" not in effective(pid) and arguments(pid) != [PROGRAM.name]

    return await only_child(found, is_keeper)


def effective(pid: int) -> set[str]:
    """Effective capabilities of a process."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return names(next(line.split()[1] for line in status if line.startswith("CapEff:")))


async def only_child(found: Installation, fits: Callable[[int], bool]) -> int:
    """Child of the collector that fits, once there is only one. Others may start or end."""

    def fitting() -> list[int]:
        pids: list[int] = []
        for pid in children(found.collector.pid):
            with suppress(FileNotFoundError, ProcessLookupError, LookupError, StopIteration):
                pids += [pid] if fits(pid) else []
        return pids

    await asyncio.to_thread(wait_until, lambda: len(fitting()) == 1)
    return fitting()[0]


async def process_reader(found: Installation) -> str:
    """Status of the check in Doctor's report."""
    answer = await found.client.get("/api/v1/doctor", timeout=120)
    report = DoctorReport.model_validate_json(answer.raise_for_status().content)
    (check,) = (check for check in report.checks if check.name == "process-reader")
    return check.status


async def test_only_the_helper_that_sets_the_switch_has_cap_sys_admin() -> None:
    # The backend of this process must not wait for the switch.
    with delay_switch_kept():
        async with installation() as found:
            # Other helpers have all rights until they have started.
            holder = await only_child(found, lambda pid: is_confined(pid, {"CAP_SYS_ADMIN"}))
            assert await only_child(found, lambda pid: "CAP_SYS_ADMIN" in effective(pid)) == holder
            assert_confined(holder, {"CAP_SYS_ADMIN"})
            for on in (True, False, True):
                answer = await found.client.put("/api/v1/doctor/delay-accounting", json={"on": on})
                assert answer.status_code == 200, answer.text
                assert delays_are_on() is on
    # The helper ends with its collector.
    with pytest.raises(ProcessLookupError):
        os.kill(holder, 0)


@needs("stacks")
@needs("btf")
async def test_the_program_that_takes_stacks_gives_up_what_taking_them_does_not_need() -> None:
    async with installation() as found:
        keeper = await only_child(found, lambda pid: arguments(pid) == [PROGRAM.name])
        await asyncio.to_thread(wait_until, lambda: keeps(keeper, LOADING))
        # The keeper executes the worker, which gets no more rights than the keeper has.
        assert_confined(keeper, LOADING, passed_on=LOADING, seccomp="0")
        assert children(keeper) == []
        target, _ = await found.attach(os.getpid())
        asked = await found.client.post(f"/api/v1/targets/{target.id}/stacks", json={"seconds": 60})
        assert asked.status_code == 200, asked.text
        while (state := (await found.target(target.id)).stacks) is None or state.trigger == "none":
            assert state is None or state.reason == ""
            await asyncio.sleep(0.05)
        (worker,) = children(keeper)
        assert arguments(worker) == [PROGRAM.name, "work"]
        assert_confined(worker, UNWINDING, passed_on=LOADING)
        assert_confined(keeper, LOADING, passed_on=LOADING, seccomp="0")
    with pytest.raises(ProcessLookupError):
        os.kill(keeper, 0)
    wait_for_end(worker)


KILLED = ("execve", "ptrace", "mount", "unshare", "process_vm_writev", "setns")
REFUSED = {
    "load a program": "EPERM",
    "make a map": "EPERM",
    "signal": "EPERM",
    "routes": "EAFNOSUPPORT",
    "firewall": "EPERM",
    "unix socket": "EAFNOSUPPORT",
    "kill": "EPERM",
    "listen": "EACCES",
    "shadow": "EACCES",
    "secret": "EACCES",
    "write": "EACCES",
    "sysctl": "EACCES",
    "memory": "EACCES",
    "executable": "EACCES",
}
WORKING = ("audit", "status", "exists", "fork", "modules", "container")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Folder of a confined process, and the ID of an unconfined one."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "secret").write_text("root's")
    container = tmp_path / "containers" / CONTAINER
    container.mkdir(parents=True)
    config = {"ID": container.name, "Name": "/web"}
    (container / "config.v2.json").write_text(json.dumps(config))
    with subprocess.Popen(["sleep", "60"]) as other:
        (tmp_path / "other").write_text(str(other.pid))
        yield tmp_path
        assert other.poll() is None
        other.kill()


@pytest.fixture(scope="module")
def attempt() -> Iterator[Callable[..., str]]:
    """Tries something confined: the name of an error, "done", or the signal that ended it."""
    with subprocess.Popen(
        [sys.executable, CONFINED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        asked, answers = program.stdin, program.stdout

        def try_it(what: str, folder: Path, features: str = "steering") -> str:
            asked.write(json.dumps([what, str(folder), features]) + "\n")
            asked.flush()
            return str(json.loads(answers.readline())["result"])

        yield try_it
        program.stdin.close()


@pytest.mark.parametrize("what", KILLED)
def test_who_takes_the_collector_over_is_ended_by_what_it_never_does(
    what: str, folder: Path, attempt: Callable[..., str]
) -> None:
    assert attempt(what, folder) == "SIGSYS"


@pytest.mark.parametrize(("what", "error"), REFUSED.items())
def test_what_a_capability_would_allow_and_no_feature_needs_is_refused(
    what: str, error: str, folder: Path, attempt: Callable[..., str]
) -> None:
    assert attempt(what, folder) == error


@pytest.mark.parametrize("what", WORKING)
def test_what_the_collector_does_goes_on_working(
    what: str, folder: Path, attempt: Callable[..., str]
) -> None:
    assert attempt(what, folder) == "done"


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A shell that executes a shell when it gets a line, and then sleep."""
    command = ["sh", "-c", "read line; exec sh -c 'read line; exec sleep 60'"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as program:
        yield program
        program.kill()


async def test_a_confined_collector_sees_what_a_target_executes(
    shell: subprocess.Popen[bytes],
) -> None:
    async with installation() as found:
        target, follower = await found.attach(shell.pid)
        assert shell.stdin is not None
        events = []
        for _ in range(2):
            shell.stdin.write(b"\n")
            shell.stdin.flush()
            events.append(await follower.until_event(ProgramExecuted))
    again, other = events
    assert (again.name, again.executable) == ("sh", target.process.executable)
    assert other.name == "sleep"
    assert other.executable != target.process.executable
