"""Totals of a process group against the kernel's for the same command, and their cost.

Each case of `cases` is a command that is attached to before its first instruction, with all of its
descendants. `cpu_ratio` is the group's CPU time over that of wait4(2); `faults_ratio` the same of
minor page faults. `processes` is how many there were, `unseen` how many no sample saw alive,
`missed` how many may have been missed, and `lost` how many exit records were. `us_per_exit` is the
collector's CPU time meanwhile, frames read included, over the threads that ended. wait4 knows of
those only whose parents waited for them: daemons that are left alone are in the group, and not in
it.

`scale` is one group of many processes with many threads, at 10 samples a second: CPU time of the
sampler's thread for a sample, over the threads (`per_thread_us`), beside `c_loop_us`: one genetlink
request in C, in the same run. The threads wake up twice a second.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attached import Attached
from running import build
from tick import c_loop_us
from tidscope_wire.frame import split
from tidscope_wire.generated.models import FrameHeader, GroupSelector, Target, TargetExited
from web_server import WebServer, unpack

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".cache" / "benchmarks" / "lua"
PACKAGE = "lua5.4"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def unpack_lua(folder: Path) -> Path:
    """Unpack Lua's sources of Debian into a folder; fetched once, by apt-get.

    Returns:
        Where its Makefile is; the target for it is `linux-noreadline`.

    Raises:
        subprocess.CalledProcessError: apt-get cannot fetch it.
    """
    if not KEPT.exists():
        _fetch()
    with tarfile.open(KEPT) as packed:
        packed.extractall(folder, filter="data")
    (made,) = folder.iterdir()
    return made / "src"


def _fetch() -> None:
    """Download the source package by separate apt indexes: the machine's may lack sources."""
    lines = Path("/etc/os-release").read_text().splitlines()
    release = next(line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME"))
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        work.chmod(0o755)
        listed = work / "sources.list"
        listed.write_text(
            f"deb-src [signed-by={_KEYRING}] http://deb.debian.org/debian {release} main\n"
        )
        (work / "lists" / "partial").mkdir(parents=True)
        options = [
            *("-qq", "-o", f"Dir::Etc::SourceList={listed}", "-o", "Dir::Etc::SourceParts=-"),
            *("-o", f"Dir::State::Lists={work / 'lists'}"),
            *("-o", "APT::Sandbox::User=root"),
        ]
        for words in (["update"], ["source", "--download-only", PACKAGE]):
            subprocess.run(["apt-get", *options, *words], cwd=work, check=True)
        (archive,) = work.glob("*.orig.tar.*")
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(archive, KEPT.with_suffix(".new"))
        KEPT.with_suffix(".new").rename(KEPT)


PATIENCE_S = 120
SAMPLER = "sampler"
"""Name of the sampler's thread."""
STORM, LOOP = 20_000, 2_000
DATABASE_S, SERVED_S = 5, 5
REST_S = 2.5
"""Time in which an idle group is compared twice."""
GROUPS = Path("/sys/fs/cgroup")


class Groups:
    """Run the collector's engine in this process."""

    def __init__(self) -> None:
        self.attached = Attached("auto", "auto", with_frames=True)
        self.targets = self.attached.targets

    def header(self) -> FrameHeader:
        """The next frame."""
        return split(self.attached.frames.get(PATIENCE_S))[0]

    def last(self) -> FrameHeader:
        """The last frame of a target that ends."""
        while True:
            header = self.header()
            if any(isinstance(event, TargetExited) for event in header.events):
                return header

    def close(self) -> None:
        self.attached.close()


@contextmanager
def groups() -> Iterator[Groups]:
    opened = Groups()
    try:
        yield opened
    finally:
        opened.close()


def account(command: list[str]) -> dict[str, Any]:
    """Run a command and compare the totals."""
    gate, go = os.pipe()
    held = f'read -r _ <&{gate}; exec {gate}<&-; exec "$@"'
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        ["bash", "-c", held, "bash", *command], pass_fds=[gate], stdout=quiet, stderr=quiet
    )
    with groups() as opened:
        opened.targets.attach_group(GroupSelector(kind="tree", pid=process.pid), 10)
        began, cpu_ns = time.monotonic(), time.process_time_ns()
        os.write(go, b"\n")
        _, status, used = os.wait4(process.pid, 0)
        took = time.monotonic() - began
        header = opened.last()
        cpu_ns = time.process_time_ns() - cpu_ns
    os.close(gate)
    os.close(go)
    process.returncode = os.waitstatus_to_exitcode(status)
    totals, counts = header.exited.totals, header.group
    if counts is None:
        raise AssertionError("a group counts its processes")
    used_ns = 1e9 * (used.ru_utime + used.ru_stime)
    return {
        "status": process.returncode,
        "seconds": round(took, 2),
        "cpu_seconds": round(used_ns / 1e9, 3),
        "cpu_ratio": round(totals["cpu_run_ns"] / used_ns, 6),
        "faults_ratio": round(totals["minor_faults"] / max(1, used.ru_minflt), 6),
        "processes": counts.ended,
        "exits": header.exited.threads,
        "us_per_exit": round(cpu_ns / 1000 / max(1, header.exited.threads), 3),
        "unseen": counts.unseen,
        "missed": counts.missed,
        "lost": header.health.exit_records_lost,
    }


@contextmanager
def control_group() -> Iterator[tuple[str, Path]]:
    """Create a control group in a followed hierarchy; yield its path and folder."""
    roots = [root for root in (GROUPS, GROUPS / "cpuacct") if (root / "cgroup.procs").exists()]
    name = f"tidscope-bench-{os.getpid()}"
    folder = roots[0] / name
    folder.mkdir()
    try:
        yield f"/{name}", folder
    finally:
        for left in (folder / "cgroup.procs").read_text().split():
            (roots[0] / "cgroup.procs").write_text(left)
        folder.rmdir()


def at_rest(opened: Groups, target: Target, *, ends: bool) -> dict[str, Any]:
    """Compare the group's sums with its own account once it is idle.

    Args:
        opened: the engine.
        target: the group.
        ends: whether all of its processes end; all exit records are waited for then.
    """
    check, since_s = None, time.monotonic()
    latest_s = since_s + PATIENCE_S
    while check is None or time.monotonic() - since_s < REST_S:
        header = opened.header()
        counts = header.group
        if counts is None:
            continue
        if time.monotonic() > latest_s:
            raise TimeoutError(
                f"the group does not come to rest: {counts}, {header.exited.threads}"
            )
        busy = ends and (counts.live > 0 or header.exited.threads < counts.ended)
        if busy or counts.check != check:
            check, since_s = counts.check, time.monotonic()
    opened.targets.detach(target.id)
    return {
        "cgroup_by": check.cpu_by,
        "cgroup_cpu_seconds": round(check.kernel_cpu_ns / 1e9, 3),
        "cgroup_ratio": round(check.threads_cpu_ns / max(1, check.kernel_cpu_ns), 6),
    }


def account_of_cgroup(command: list[str]) -> dict[str, Any]:
    """Run a command in a control group and compare the totals."""
    held = 'read -r _; exec "$@"'
    quiet = subprocess.DEVNULL
    with control_group() as (path, folder), groups() as opened:
        process = subprocess.Popen(
            ["bash", "-c", held, "bash", *command],
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
        )
        (folder / "cgroup.procs").write_text(str(process.pid))
        target, _ = opened.targets.attach_group(GroupSelector(kind="cgroup", value=path), 10)
        time.sleep(REST_S)
        process.communicate(b"\n")
        return at_rest(opened, target, ends=True)


def nginx() -> dict[str, Any]:
    """nginx and its worker in a control group, with visitors."""
    unpack()
    with control_group() as (path, folder), WebServer(0) as server, groups() as opened:
        for pid in server.processes():
            (folder / "cgroup.procs").write_text(str(pid))
        target, _ = opened.targets.attach_group(GroupSelector(kind="cgroup", value=path), 10)
        time.sleep(REST_S)
        before = server.served()
        with server.load("visitors", 1, SERVED_S) as visitors:
            visitors.wait()
        served = server.served() - before
        return {"requests": served, **at_rest(opened, target, ends=False)}


def c_project(folder: Path, jobs: int = 4) -> list[str]:
    """A real C project, and the command that makes it."""
    return ["make", "-C", str(unpack_lua(folder)), f"-j{jobs}", "linux-noreadline"]


def go_project(folder: Path) -> list[str]:
    """A program that has to be compiled with its libraries."""
    (folder / "main.go").write_text(
        'package main\n\nimport (\n\t"encoding/json"\n\t"os"\n)\n\n'
        "func main() { _ = json.NewEncoder(os.Stdout).Encode(os.Args) }\n"
    )
    (folder / "go.mod").write_text("module example.test/groups\n\ngo 1.21\n")
    cache = f"GOCACHE={folder}/cache"
    return ["env", cache, "GOFLAGS=-mod=mod", "go", "build", "-C", str(folder), "-o", "made", "."]


def database(folder: Path) -> list[str]:
    """PostgreSQL with clients, as another user than root."""
    folder.chmod(0o777)
    script = folder / "database"
    script.write_text(
        "set -e\nexport PGHOST=$1 PGDATA=$1/data\n"
        "initdb -A trust -U test >/dev/null\n"
        "postgres -k $1 -c listen_addresses= >$1/log 2>&1 & server=$!\n"
        "until pg_isready -q; do sleep 0.1; done\n"
        "pgbench -U test -i -q postgres\n"
        f"pgbench -U test -c 8 -j 2 -T {DATABASE_S} postgres\nkill -INT $server\nwait $server\n"
    )
    as_other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return [*as_other, "env", f"HOME={folder}", "bash", str(script), str(folder)]


def cases(folder: Path, storm: Path, options: argparse.Namespace) -> dict[str, list[str]]:
    """Requested commands that this machine can run."""
    made: dict[str, list[str]] = {
        "shell_loop": ["bash", "-c", f"for i in $(seq {LOOP}); do /bin/true; done"],
        "fork_storm": [str(storm), str(options.forks)],
    }
    makers: dict[str, Callable[[Path], list[str]]] = {
        "make": partial(c_project, jobs=options.jobs),
        "go": go_project,
        "postgres": database,
    }
    for name, maker in makers.items():
        if shutil.which(name) and (not options.case or name in options.case):
            (folder / name).mkdir()
            made[name] = maker(folder / name)
    return made


def sampler_ns() -> int:
    """CPU time of the sampler's thread in this process, in nanoseconds."""
    for task in Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == SAMPLER:
            return int((task / "schedstat").read_text().split()[0])
    raise AssertionError("there is a sampler")


def scale(storm: Path, loop: Path, processes: int, threads: int, seconds: float) -> dict[str, Any]:
    """The cost of many threads in many processes."""
    pipe = subprocess.PIPE
    words = [str(storm), str(processes), str(threads)]
    program = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
    if program.stdin is None or program.stdout is None:
        raise AssertionError("they are pipes")
    program.stdout.readline()
    total = processes * threads + 1
    with groups() as opened:
        target, _ = opened.targets.attach_group(GroupSelector(kind="tree", pid=program.pid), 10)
        time.sleep(2)
        frames = opened.attached.frames
        while not frames.empty():
            frames.get(PATIENCE_S)
        began_ns = sampler_ns()
        time.sleep(seconds)
        spent_ns = sampler_ns() - began_ns
        headers = []
        while not frames.empty():
            headers.append(opened.header())
        header = headers[-1]
        opened.targets.detach(target.id)
    loops = [c_loop_us(loop, program.pid, 1) for _ in range(5)]
    program.stdin.close()
    program.wait()
    sample_us = spent_ns / 1000 / max(1, len(headers))
    loop_us = statistics.median(loops)
    return {
        "processes": processes + 1,
        "threads": total,
        "live_threads": header.live_threads,
        "counters_from": header.counters_from,
        "samples": len(headers),
        "sample_us": round(sample_us),
        "per_thread_us": round(sample_us / total, 3),
        "c_loop_us": round(loop_us, 3),
        "per_thread_over_c_loop": round(sample_us / total / loop_us, 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", help="only these (default: all, and scale)")
    parser.add_argument("--forks", type=int, default=STORM, help="of the storm")
    parser.add_argument("--jobs", type=int, default=4, help="of make")
    parser.add_argument("--processes", type=int, default=300)
    parser.add_argument("--threads", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured: dict[str, Any] = {"cases": {}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        storm = build("fork_storm", folder)
        (folder / "again").mkdir(mode=0o755)
        again = cases(folder / "again", storm, options)
        for name, command in cases(folder, storm, options).items():
            if not options.case or name in options.case:
                measured["cases"][name] = account(command) | account_of_cgroup(again[name])
                print(f"{name}: {measured['cases'][name]}", file=sys.stderr)
        if not options.case or "nginx" in options.case:
            measured["cases"]["nginx"] = nginx()
            print(f"nginx: {measured['cases']['nginx']}", file=sys.stderr)
        if not options.case or "scale" in options.case:
            loop = build("c_loop", folder)
            size = options.processes, options.threads
            measured["scale"] = scale(storm, loop, *size, options.seconds)
    print(json.dumps(measured, indent=None if options.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
