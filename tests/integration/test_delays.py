"""Delay accounting on this machine's kernel: its switch, and withheld block-I/O delays.

Linux 6.12 and newer now and then add the time since an earlier wait began, or since the machine
did, and leave waits out (6.18, of 8 threads on a CPU: within some hundred reads, as a rule). Older
kernels do not: there nothing may be corrected.
"""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from capabilities import delay_switch_kept, delays_are_on, delays_switched, missing, needs
from followed_target import FollowedTarget
from programs.direct_reads import DirectReads
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.source import Choice, LedgerOptions
from tidscope_wire.generated.models import DoctorReport, ThreadExited

BLKIO, BLKIO_COUNT = "blkio_delay_ns", "blkio_count"
DISK_STATES = tuple(
    f"state_{wait}_disk_ns" for wait in ("file_read", "file_write", "file_sync", "page_fault")
)
IO_STATES = (*DISK_STATES, "state_io_uring_ns", "state_other_call_ns", "state_other_ns")
# Bounds of the sampler: sampler/src/validate/io_bounds.rs.
TOLERANCE = 1.25
WAKE_NS = 50_000
SLACK_NS = 20_000_000
DOCTOR = (sys.executable, "-m", "tidscope_collector", "doctor", "--json")
AS_NOBODY = """
import os, sys
from tidscope_collector.command_line import main
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
sys.argv = ["tidscope_collector", "doctor", "--json", "--delay-accounting", sys.argv[1]]
sys.exit(main())
"""


@needs("root")
@needs("delay-accounting")
def test_it_is_set_and_set_back() -> None:
    with delay_switch_kept():
        delays = DelayAccounting(ProcFs())
        for on in (True, False, True):
            delays.set(on)
            assert delays_are_on() is on
            assert delays.state() is on
            assert (delays.on_since_ns() is not None) is on


@needs("root")
@needs("delay-accounting")
def test_by_the_command_line() -> None:
    with delay_switch_kept():
        for word, on in (("on", True), ("off", False)):
            done = subprocess.run(
                [*DOCTOR, "--delay-accounting", word], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            assert delays_are_on() is on
            report = DoctorReport.model_validate_json(done.stdout)
            (check,) = [one for one in report.checks if one.name == "delay-accounting"]
            assert check.enabled is on
            assert check.status == ("ok" if on else "limited")


@needs("root")
@needs("delay-accounting")
def test_who_may_not_is_reported_so() -> None:
    """The switch has no effect, so nothing has to be restored."""
    other = "off" if delays_are_on() else "on"
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, other], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4, done.stderr
    assert "Permission denied" in done.stderr
    assert "sudo sysctl -w kernel.task_delayacct=" in done.stderr
    assert done.stdout == ""


@needs("root")
@needs("delay-accounting")
def test_a_read_only_proc(tmp_path: Path) -> None:
    """Mounts as in a container, in a mount namespace that ends with the process."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        raise missing("mount-namespace")
    script = (
        "mount --bind -o ro /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && "
        f'exec "{sys.executable}" -c "$0"'
    )
    code = (
        "from tidscope_collector.procfs.delay_accounting import *\n"
        "from tidscope_collector.procfs.files import ProcFs\n"
        "try: DelayAccounting(ProcFs()).set(True)\n"
        "except SwitchRefusedError as error: print(error)"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Read-only file system" in done.stdout


ROUNDS = 12
AROUND_NS = 1_000_000_000
TICK_NS = 10_000_000
"""The kernel's count is read in whole ticks (proc_pid_stat(5))."""


@dataclass(frozen=True)
class Judged:
    """Threads whose delays cannot be, by what the kernel says, and those whose certainly can."""

    wrong: set[int]
    right: set[int]


def kernel_delays(pid: int) -> dict[int, int]:
    """The kernel's count for each thread, in nanoseconds, up to a tick too low."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        found[int(task.name)] = int(fields[39]) * TICK_NS
    return found


def by_ledgers(kernel: dict[int, int], rows: dict[int, dict[str, int]]) -> Judged:
    """Check threads that had not waited before their ledgers began."""
    judged = Judged(set(), set())
    for tid, row in rows.items():
        least = sum(row[state] for state in DISK_STATES) / TOLERANCE - SLACK_NS
        most = TOLERANCE * sum(row[state] for state in IO_STATES)
        most += WAKE_NS * row.get(BLKIO_COUNT, 0) + SLACK_NS
        if not least - 2 * TICK_NS < kernel[tid] < most + TICK_NS:
            judged.wrong.add(tid)
        elif least + TICK_NS < kernel[tid] < most - 2 * TICK_NS:
            judged.right.add(tid)
    return judged


def by_lives(kernel: dict[int, int], life_ns: int, attached_ns: int) -> Judged:
    """Without ledgers. Less than the life at attach was never more than the life."""
    wrong = {tid for tid, ns in kernel.items() if ns > life_ns}
    return Judged(wrong, {tid for tid, ns in kernel.items() if ns + TICK_NS < attached_ns})


def waited(row: dict[str, int]) -> int:
    """Time of waits for disks, by a ledger."""
    return sum(row.get(state, 0) for state in DISK_STATES)


def by_ledger(first: dict[str, int], row: dict[str, int]) -> int:
    """Expected value of a wrong counter: of the first row, and then of the ledger.

    Where it was wrong from the first, and the ledger was still to come, that row has none.
    """
    return max(0, first.get(BLKIO, 0) - waited(first)) + waited(row)


def is_above(first: dict[str, int], row: dict[str, int]) -> bool:
    """True if a row exceeds its ledger; rows without a ledger never do."""
    return BLKIO in row and row[BLKIO] > by_ledger(first, row)


def check_corrected(
    first: dict[str, int], before: dict[str, int], after: dict[str, int], ended: int
) -> None:
    """A wrong count follows the ledger, once that has as much as was given before."""
    known = by_ledger(first, after)
    assert after[BLKIO] == max(before[BLKIO], known)
    assert known <= ended


def check_right(delay: int, ended: ThreadExited) -> None:
    """A count that was right stays as it is."""
    assert BLKIO not in ended.inexact
    assert ended.totals[BLKIO] == delay


@needs("root")
@needs("delay-accounting")
@needs("btf")
@pytest.mark.parametrize("ledger", ["auto", "off"])
def test_no_frame_has_a_delay_that_is_longer_than_the_process(ledger: Choice) -> None:
    with delays_switched(True):
        began_ns = time.monotonic_ns()
        with DirectReads() as program:
            ready_ns = time.monotonic_ns()
            with FollowedTarget(program.pid, ledger=LedgerOptions(choice=ledger)) as followed:
                attached_ns, first = time.monotonic_ns() - ready_ns, dict(followed.seen.rows)
                for _ in range(ROUNDS):
                    program.read()
                    caught = followed.catch_up()
                    life_ns = time.monotonic_ns() - began_ns + AROUND_NS
                    kernel = kernel_delays(program.pid)
                    if ledger == "auto":
                        judged = by_ledgers(kernel, followed.seen.rows)
                    else:
                        judged = by_lives(kernel, life_ns, attached_ns)
                    if judged.wrong:
                        break

                def all_is_said() -> bool:
                    """Comparisons come once a second or two, and tables after them."""
                    life_ns = time.monotonic_ns() - began_ns + AROUND_NS
                    assert all(row.get(BLKIO, 0) < life_ns for row in followed.seen.rows.values())
                    said = {int(row["tid"]) for row in followed.seen.tables.get("inexact", ())}
                    # Without inexact values, a frame without ledgers has no tables.
                    has_tables = ledger == "off" or followed.seen.tables_ns > caught.time_ns
                    return judged.wrong <= said and has_tables

                followed.until(all_is_said)
                labels = {int(row["tid"]): row for row in followed.seen.tables.get("inexact", ())}
                rows = dict(followed.seen.rows)
                assert followed.seen.header is not None
                totals = {role.role: role.totals for role in followed.seen.header.roles or ()}
                # A count that was given before the comparison stands until the ledger has more.
                stands = {tid for tid in labels if is_above(first[tid], rows[tid])}
                if stands:
                    program.read()
                    followed.catch_up()
                later = followed.seen.rows.copy()
                program.close()
                followed.until_ended()
                ended = {event.tid: event for event in followed.seen.ended}
                life_ns = time.monotonic_ns() - began_ns + AROUND_NS
    for tid, label in labels.items():
        assert label["name"] == BLKIO
        assert label["label"] == ("ledger" if ledger == "auto" else "invalid")
        assert BLKIO in ended[tid].inexact
        if ledger == "off":
            assert label["kernel"] > label["life_ns"]
            assert BLKIO not in rows[tid]
            assert BLKIO not in ended[tid].totals
        else:
            check_corrected(first[tid], rows[tid], later[tid], ended[tid].totals[BLKIO])
            assert max(later[tid][BLKIO], ended[tid].totals[BLKIO]) < life_ns
    # The first thread has none: it may have begun before delays were counted.
    for tid in (tid for tid in judged.right - labels.keys() if BLKIO in rows[tid]):
        assert kernel[tid] <= rows[tid][BLKIO] < kernel[tid] + TICK_NS
        if not stands:
            check_right(rows[tid][BLKIO], ended[tid])
    assert all(sums[BLKIO] < life_ns * len(rows) for sums in totals.values())
