"""The real collector behind the real backend: what becomes of targets, and what is refused."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from group_targets import HeldCommand, used_ns
from installation import Installation, installation
from processes import start_ticks, status
from programs.known_work import EXIT_CODE, KnownWork
from receiver import Follower
from tidscope_processes import (
    NOBODY,
    WITHOUT_NET_ADMIN,
    as_user,
    hiding_processes,
)
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    RateChanged,
    Target,
    TargetDetached,
    TargetExited,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

CHOSEN_ID = Path(__file__).parents[1] / "programs" / "chosen_id.py"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_target_that_exits_keeps_its_totals_and_its_status(root: Installation) -> None:
    with KnownWork(burn_ms=300, short_threads=100) as work:
        target, follower = await root.attach(work.pid)
        for command in ("b", "w", "s"):
            await asyncio.to_thread(work.command, command)
        work.send("q")
        account = await asyncio.to_thread(work.answer)
        exited = await follower.until_event(TargetExited)
    assert exited.exit_code == EXIT_CODE << 8
    reported = follower.receiver.exited
    assert (reported.inexact, follower.receiver.live) == (0, {})
    # Every thread is one exit: main, four hands, a hundred short ones.
    assert reported.threads == len(follower.receiver.exits) == 105
    # The account is the last thing that the program does but for its end, which may be slow.
    assert 0.9 < reported.totals["cpu_run_ns"] / account.process.cpu_ns < 1.5
    assert reported.totals["write_char_bytes"] >= 8 << 20
    await root.ended(target.id)
    # A page that opens only now sees it all.
    async with root.backend.page() as late:
        await late.subscribe(target.id)
        reader = Follower(late)
        assert await reader.until_event(TargetExited) == exited
        assert reader.receiver.exited == reported
        assert len(reader.receiver.exits) == 105
    answer = await root.client.patch(f"/api/v1/targets/{target.id}", json={"rate_hz": 1})
    assert "target-exited" in answer.text


@pytest.mark.asyncio(loop_scope="module")
async def test_the_status_is_that_of_the_process_and_not_of_its_main_thread(
    root: Installation,
) -> None:
    with KnownWork() as work:
        _, follower = await root.attach(work.pid)
        work.send("z")
        await asyncio.to_thread(work.answer)
        # The main thread is a zombie now, with a status of its own: 0.
        await follower.until(
            lambda header: (
                "heir" in follower.receiver.names.values()
                and work.pid not in follower.receiver.live
            )
        )
        await follower.next()
        assert len(follower.receiver.live) == 5
        work.send("q")
        exited = await follower.until_event(TargetExited)
    assert exited.exit_code == EXIT_CODE << 8
    assert len([one for one in follower.receiver.exits if one.tid == work.pid]) == 1
    assert follower.receiver.exited.inexact == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_a_target_that_is_killed(root: Installation) -> None:
    with KnownWork(burn_ms=50) as work:
        _, follower = await root.attach(work.pid)
        await asyncio.to_thread(work.command, "b")
        await asyncio.to_thread(work.kill)
        assert (await follower.until_event(TargetExited)).exit_code == signal.SIGKILL
    assert all(one.exact for one in follower.receiver.exits)
    assert follower.receiver.exited.totals["cpu_run_ns"] >= 50_000_000


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that reads lines, and end it."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def send_line(process: subprocess.Popen[bytes]) -> None:
    """Give it a line to read."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


@pytest.mark.asyncio(loop_scope="module")
async def test_exec_goes_on_as_the_same_target(root: Installation) -> None:
    """An execution by another thread than the main one, which takes the main thread's ID."""
    script = (
        "import os, sys, threading, time\n"
        "def run():\n"
        "    sys.stdin.readline()\n"
        "    end = time.thread_time() + 0.2\n"
        "    while time.thread_time() < end: pass\n"
        "    os.execv('/bin/sh', ['sh', '-c', 'read x; exit 4'])\n"
        "threading.Thread(target=run, name='other').start()\n"
        "time.sleep(600)\n"
    )
    with running("python3", "-c", script) as program:
        _, follower = await root.attach(program.pid)
        await follower.until(lambda header: header.live_threads == 2)
        send_line(program)
        # A sample may see the new name while the other thread is still listed.
        await follower.until(lambda header: follower.receiver.names == {program.pid: "sh"})
        # The thread's time counts once: what it used before stands under the id that it had.
        lives = follower.receiver.live[program.pid]["cpu_run_ns"]
        ended = sum(one.totals["cpu_run_ns"] for one in follower.receiver.exits)
        assert lives + ended == follower.receiver.total("cpu_run_ns")
        assert lives + ended >= 200_000_000
        send_line(program)
        assert (await follower.until_event(TargetExited)).exit_code == 4 << 8


@pytest.mark.asyncio(loop_scope="module")
async def test_rate_and_detaching(root: Installation) -> None:
    with KnownWork() as work:
        target, follower = await root.attach(work.pid)
        assert (await root.ask(work.pid)).status_code == 200
        path = f"/api/v1/targets/{target.id}"
        changed = await root.client.patch(path, json={"rate_hz": 50})
        assert changed.json()["rate_hz"] == 50
        assert await follower.until_event(RateChanged) == RateChanged(rate_hz=50, previous_hz=20)
        assert (await root.client.delete(path)).status_code == 204
        await follower.until_event(TargetDetached)
        assert (await root.target(target.id)).state == "detached"
        assert len(follower.receiver.live) == 5
        again, _ = await root.attach(work.pid)
        assert again.id != target.id


@contextmanager
def successor(work: KnownWork) -> Iterator[int]:
    """End a program, and run another one with its ID.

    Yields:
        Start of the other one in clock ticks since boot.
    """
    old = start_ticks(work.pid)
    with subprocess.Popen(
        [sys.executable, CHOSEN_ID, str(work.pid), "sleep", "600"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == b"ready\n"
            work.kill()
            send_line(program)
            assert program.stdout.readline() == b"started\n"
            new = start_ticks(work.pid)
            assert new != old
            yield new
        finally:
            program.stdin.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_an_id_that_was_reused_is_refused_by_its_start(root: Installation) -> None:
    with KnownWork() as work:
        old = start_ticks(work.pid)
        with successor(work) as new:
            problem = await root.refused(work.pid, start_ticks=old)
            assert problem.type.endswith(":process-id-reused")
            assert str(old) in problem.detail and str(new) in problem.detail
            assert (await root.ask(work.pid, start_ticks=new)).status_code == 201


@pytest.mark.asyncio(loop_scope="module")
async def test_a_target_whose_id_is_reused_between_two_samples_has_ended(
    root: Installation,
) -> None:
    with KnownWork() as work:
        target, follower = await root.attach(work.pid, rate_hz=1)
        await follower.next()
        with successor(work):
            exited = await follower.until_event(TargetExited)
            assert exited.exit_code == signal.SIGKILL
            assert len(follower.events(ThreadBorn)) == 5
            assert {one.name for one in follower.receiver.exits} >= {"known_work", "sleeper"}
            again, other = await root.attach(work.pid)
            assert again.id != target.id
            assert again.process.name == "sleep"
            assert [
                one.name for one in (await other.next()).events if one.type == "thread_born"
            ] == ["sleep"]


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_refused(root: Installation, known_work: KnownWork) -> None:
    before = {target.id for target in await root.targets()}
    kernel = await root.refused(2)
    assert kernel.type.endswith(":kernel-thread")
    assert "kthreadd" in kernel.detail
    thread = await root.refused(known_work.tids["burner"])
    assert thread.type.endswith(":unknown-process")
    assert str(known_work.pid) in thread.hint
    known_work.kill_unreaped()
    zombie = await root.refused(known_work.pid)
    assert zombie.type.endswith(":target-exited")
    known_work.wait()
    missing = await root.refused(known_work.pid)
    assert missing.type.endswith(":unknown-process")
    assert str(known_work.pid) in missing.detail
    assert {target.id for target in await root.targets()} == before


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("mode", [1, 2])
async def test_a_process_that_the_collector_may_not_see_is_not_permitted(
    known_work: KnownWork, mode: int
) -> None:
    async with installation([*hiding_processes(mode), *as_user(NOBODY)]) as found:
        problem = await found.refused(known_work.pid)
        assert problem.type.endswith(":not-permitted")
        assert problem.status == 403
        assert "hidepid" in (problem.hint or "")
        # The user may attach to own processes.
        with KnownWork(uid=NOBODY) as own:
            await found.attach(own.pid)


THREAD_FIELDS = {field.name for field in CATALOGUE.fields if field.scope == "thread"}


def reasons(target: Target) -> dict[str, str]:
    """Absent fields and why; each field is either there or absent."""
    absent = {one.field: one.reason for one in target.absent}
    assert set(target.fields) | absent.keys() == THREAD_FIELDS
    assert not set(target.fields) & absent.keys()
    return absent


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("within", "uid"),
    [(WITHOUT_NET_ADMIN, None), (as_user(NOBODY), NOBODY)],
    ids=["root without CAP_NET_ADMIN", "nobody"],
)
async def test_without_the_right_for_taskstats_there_is_less_and_it_says_so(
    within: Sequence[str], uid: int | None
) -> None:
    async with installation(within) as found:
        assert set(status(found.collector.pid, "Uid")) == {str(uid or 0)}
        reported = found.host.collector
        assert (reported.privileged, reported.source) == (False, "procfs")
        assert "CAP_NET_ADMIN" in reported.reason
        with KnownWork(burn_ms=100, uid=uid) as work:
            target, follower = await found.attach(work.pid)
            source = target.source
            assert (source.kind, source.exits, source.taskstats_version) == ("procfs", False, None)
            assert "CAP_NET_ADMIN" in source.reason
            assert "CAP_NET_ADMIN" in source.exits_reason
            absent = reasons(target)
            assert {"cpu_run_ns", "cpu_delay_ns", "write_char_bytes"} <= set(target.fields)
            for field in ("blkio_delay_ns", "swapin_delay_ns", "irq_count"):
                assert "CAP_NET_ADMIN" in absent[field]
            burner, writer = work.tids["burner"], work.tids["writer"]
            own = (await asyncio.to_thread(work.command, "b")).thread
            await asyncio.to_thread(work.command, "w")
            await asyncio.to_thread(work.command, "r")
            extra = (await asyncio.to_thread(work.command, "n")).thread.tid
            live = follower.receiver.live
            await follower.until(lambda header: extra in live)
            assert live[burner].keys() == set(target.fields)
            assert live[burner]["cpu_run_ns"] == pytest.approx(own.cpu_ns, abs=50_000_000)
            assert live[writer]["write_char_bytes"] == work.file.stat().st_size
            assert follower.events(ThreadRenamed)[0].previous == "renamer"
            await asyncio.to_thread(work.command, "e")
            ended = await follower.until_event(ThreadExited)
            assert (ended.tid, ended.exact, ended.seen_alive) == (extra, False, True)
            before = follower.receiver.total("cpu_run_ns")
            work.send("q")
            # Only an exit record tells the status.
            assert (await follower.until_event(TargetExited)).exit_code is None
        sums = follower.receiver.exited
        assert (sums.threads, sums.inexact) == (6, 6)
        assert sums.totals["cpu_run_ns"] >= before
        doctor = (await found.client.get("/api/v1/doctor")).json()
        states = {check["name"]: check["status"] for check in doctor["checks"]}
        assert states["taskstats"] == "failed"


@pytest.mark.asyncio(loop_scope="module")
async def test_another_users_process_is_read_without_what_the_kernel_guards() -> None:
    async with installation(as_user(NOBODY)) as found:
        with KnownWork(burn_ms=100) as work:
            target, follower = await found.attach(work.pid)
            absent = reasons(target)
            for field in ("write_char_bytes", "disk_read_bytes"):
                assert "CAP_SYS_PTRACE" in absent[field]
            own = (await asyncio.to_thread(work.command, "b")).thread
            live = follower.receiver.live
            await follower.until(lambda header: live[own.tid]["cpu_run_ns"] >= own.cpu_ns)


@pytest.mark.asyncio(loop_scope="module")
async def test_with_all_rights_nothing_is_missing_but_what_the_kernel_does_not_count(
    root: Installation, known_work: KnownWork
) -> None:
    """Guard: the tests above are void on a machine without taskstats."""
    assert root.host.collector.privileged, root.host.collector.reason
    target, _ = await root.attach(known_work.pid)
    assert target.source.exits, target.source.exits_reason
    assert {one.split("_")[0] for one in reasons(target)} <= {
        *("net", "blkio", "swapin", "reclaim", "thrashing", "compact", "wpcopy", "irq")
    }


COMMANDS = 100


@pytest.mark.asyncio(loop_scope="module")
@needs("root")
@needs("btf")
async def test_a_tree_is_followed_by_a_confined_collector(root: Installation) -> None:
    command = HeldCommand(["bash", "-c", f"for i in $(seq {COMMANDS}); do /bin/true; done"])
    answer = await root.client.post(
        "/api/v1/targets", json={"group": {"kind": "tree", "pid": command.pid}}
    )
    assert answer.status_code == 201, answer.text
    target = Target.model_validate_json(answer.content)
    assert target.group is not None
    assert target.group.discovery == "ebpf"
    async with root.backend.page() as page:
        await page.subscribe(target.id)
        follower = Follower(page)
        used = await asyncio.to_thread(command.run)
        await follower.until_event(TargetExited)
    totals = follower.receiver.exited
    assert totals.threads == COMMANDS + 2
    # On a busy machine threads run longer after the kernel has added up what they used.
    assert 0.995 < totals.totals["cpu_run_ns"] / used_ns(used) < 1.2
