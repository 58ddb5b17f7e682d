"""Groups of real control groups and trees, beside the accounts that the kernel keeps of them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import Follower
from group_targets import MOUNTED, PATIENCE_S, GroupTargets, control_group, group_targets
from tidscope_wire.generated.models import FrameHeader, GroupCheck, GroupSelector, TargetDetached

pytestmark = [needs("root"), needs("btf")]

WORK = (
    "import os, sys, time\n"
    "def work(s):\n"
    "    while time.process_time() < s: pass\n"
    "work(0.2)\n"
    "for _ in range(4):\n"
    "    pid = os.fork()\n"
    "    if not pid:\n"
    "        work(0.05)\n"
    "        os._exit(0)\n"
    "    os.waitpid(pid, 0)\n"
    "print(flush=True)\n"
    "sys.stdin.readline()\n"
)
"""Uses CPU time, with children; says so, and waits."""
SHORTEST_NS = 300_000_000
FRAMES = 12
"""Time in which both accounts are read again at least once."""
CLOSE = 0.01
TICK_NS = 10_000_000


class Worker:
    """A program that begins in a control group when it is let go.

    Args:
        folders: folders of the group; none: where the test is.
    """

    def __init__(self, *folders: Path) -> None:
        pipe = subprocess.PIPE
        moves = "".join(f"echo $$ > {folder}/cgroup.procs; " for folder in folders)
        command = f'read -r _; {moves}exec python3 -c "$1"'
        words = ["bash", "-c", command, "bash", WORK]
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
        self.pid = self.process.pid

    def say(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def work(self) -> None:
        """Make the program work until it waits again."""
        self.say()
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "\n"

    def end(self) -> None:
        self.process.communicate("\n", timeout=120)


def began(header: FrameHeader) -> bool:
    """True if both accounts have been read; later usage is compared."""
    return header.group is not None and header.group.check is not None


def check_at_rest(groups: GroupTargets) -> GroupCheck:
    """Return the comparison once the group is idle after work."""
    seen: list[GroupCheck] = []

    def rests(header: FrameHeader) -> bool:
        assert header.group is not None
        check = header.group.check
        if check is not None and (not seen or check is not seen[-1]):
            seen.append(check)
        used = [one.kernel_cpu_ns for one in seen[-FRAMES:]]
        return len(used) == FRAMES and used[0] > SHORTEST_NS and used[0] == used[-1]

    groups.until(rests)
    return seen[-1]


@pytest.fixture(params=MOUNTED)
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A control group of each version that is mounted."""
    with control_group(request.param, f"tidscope-test-{os.getpid()}") as made:
        yield made


def test_threads_add_up_to_what_the_control_group_says(folder: Path) -> None:
    first, worker = Worker(folder), Worker(folder)
    first.work()  # This usage precedes the group's first sample.
    with group_targets() as groups:
        target = groups.attach(GroupSelector(kind="cgroup", value=f"/{folder.name}"))
        assert target.process.pid == first.pid
        groups.until(began)
        worker.work()
        check = check_at_rest(groups)
        groups.targets.detach(target.id)
    first.end()
    worker.end()
    assert check.cpu_by == ("cpuacct.usage" if folder.parent.name == "cpuacct" else "cpu.stat")
    assert check.threads_cpu_ns == pytest.approx(check.kernel_cpu_ns, rel=CLOSE)


def test_threads_add_up_to_what_a_tree_was_waited_for() -> None:
    worker = Worker()
    with group_targets() as groups:
        target = groups.attach(GroupSelector(kind="tree", pid=worker.pid))
        groups.until(began)
        worker.work()
        check = check_at_rest(groups)
        groups.targets.detach(target.id)
    worker.end()
    assert (check.cpu_by, check.io_by) == ("rusage", None)
    # User and system time of children that were waited for are each counted in whole ticks.
    most = CLOSE * check.kernel_cpu_ns + 2 * TICK_NS
    assert check.threads_cpu_ns == pytest.approx(check.kernel_cpu_ns, abs=most)


def test_what_is_compared_is_what_the_table_of_processes_adds_up_to() -> None:
    """In each frame, while the group works: from the first comparison on both have grown alike."""
    worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    follower, pairs = Follower(), set[tuple[int, int]]()

    def follow() -> FrameHeader:
        header = follower.take(groups.frames.get(timeout=PATIENCE_S))
        assert header.group is not None
        if header.group.check is not None:
            total = int(follower.tables["processes"]["cpu_ns"].sum())
            pairs.add((total, header.group.check.threads_cpu_ns))
        return header

    with group_targets() as groups:
        try:
            target = groups.attach(GroupSelector(kind="tree", pid=worker.pid))
            while len(pairs) < 6:
                follow()
            groups.targets.detach(target.id)
            while not any(isinstance(event, TargetDetached) for event in follow().events):
                pass
        finally:
            worker.kill()
            worker.wait()
    assert len({total - threads for total, threads in pairs}) == 1, sorted(pairs)
