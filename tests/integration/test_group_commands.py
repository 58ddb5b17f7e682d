"""Real commands as process trees: their sums equal wait4(2) and the control group."""

import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from capabilities import missing, needs
from group_targets import MOUNTED, Heard, HeldCommand, control_group, group_targets, move, used_ns
from processes import wait_until
from programs.build import build_c, build_go, go_command, go_environment
from tidscope_collector.groups.accounts import CgroupAccount
from tidscope_collector.groups.cgroups import find_cgroups
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import GroupSelector

pytestmark = [needs("root"), needs("btf")]

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
HEADERS = ROOT / "predictd" / "include"
NGINX = ROOT / ".cache" / "nginx" / "usr" / "sbin" / "nginx"
FORKS = 1000
REQUESTS = 1500
LESS, MORE = 0.0005, 0.005
"""Relative bounds of a group's CPU time below and above wait4's. Time that threads run after they
were added to their process's account is in the group alone."""
CLOSE = 0.0005
"""Largest relative difference between the CPU time of a group and of its control group."""


@dataclass
class Measured:
    """One command, three times.

    Attributes:
        heard: what the group's frames say.
        wait4_ns: what it and all its descendants used.
        cgroup_ns: what its control group used.
    """

    heard: Heard
    wait4_ns: int
    cgroup_ns: int

    def check(self) -> None:
        """Nobody was lost, and all three agree."""
        heard = self.heard
        assert heard.last.health.exit_records_lost == 0
        assert heard.counts.missed == 0
        assert heard.counts.live == 0
        whole_ns = heard.last.exited.totals["cpu_run_ns"]
        assert 1 - LESS < whole_ns / self.wait4_ns < 1 + MORE
        # Usage before the attachment is in neither account.
        rows_ns = int(heard.processes["cpu_ns"].sum())
        assert rows_ns == pytest.approx(self.cgroup_ns, rel=CLOSE)


def measure(words: list[str], doing: Callable[[int], None] | None = None) -> Measured:
    """Run a command in a control group, as a tree.

    Args:
        words: words of the command.
        doing: what is done with its process while it runs; it ends the command.
    """
    path = f"/tidscope-test-{os.getpid()}"
    with control_group(MOUNTED[0], path[1:]) as folder, group_targets() as groups:
        command = HeldCommand(words)
        command.settle()
        move(command.pid, folder)
        account = CgroupAccount(find_cgroups(ProcFs(), path)[0])
        before = account.read()
        groups.attach(GroupSelector(kind="tree", pid=command.pid))
        # Usage before the first sample is not the group's.
        groups.until(lambda _: True)
        command.begin()
        if doing is not None:
            doing(command.pid)
        used = command.wait()
        heard = groups.hear()
        after = account.read()
    assert before is not None
    assert after is not None
    return Measured(heard, used_ns(used), after.cpu_ns - before.cpu_ns)


def test_make(tmp_path: Path) -> None:
    sources = sorted(PROGRAMS.glob("*.c"))
    rule = "%.o: " + str(PROGRAMS) + f"/%.c\n\tcc -O2 -I{HEADERS} -c -o $@ $<\n"
    objects = " ".join(f"{one.stem}.o" for one in sources)
    (tmp_path / "Makefile").write_text(f"all: {objects}\n{rule}")
    made = measure(["make", "-C", str(tmp_path), "-j2"])
    assert len(list(tmp_path.glob("*.o"))) == len(sources)
    # Each file needs the shell or the driver, the compiler and the assembler.
    assert made.heard.counts.started >= 3 * len(sources)
    made.check()


@needs("go")
def test_go_build(tmp_path: Path) -> None:
    """A command whose programs have many threads that end at once."""
    source = PROGRAMS / "small.go"
    build_go(source)
    settings = [f"{name}={value}" for name, value in go_environment().items() if name[:2] == "GO"]
    flags = ["-ldflags", f"-X main.unique={os.getpid()}", "-o", str(tmp_path / "made")]
    made = measure(["env", *settings, go_command(), "build", *flags, str(source)])
    assert (tmp_path / "made").exists()
    assert made.heard.last.exited.threads > made.heard.counts.ended
    made.check()


def test_a_storm_of_forks() -> None:
    storm = build_c(ROOT / "benchmarks" / "fork_storm.c")
    made = measure([str(storm), str(FORKS)])
    assert made.heard.counts.started == FORKS
    assert made.heard.last.exited.threads == FORKS + 1
    made.check()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Folder for sockets, whose paths must be short; other users may pass through it."""
    folder = Path(f"/tmp/tidscope-group-{os.getpid()}")
    folder.mkdir(mode=0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def test_postgresql_with_its_clients(short_folder: Path) -> None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise missing("postgresql", "tools/install-test-packages installs it")
    shutil.chown(short_folder, "postgres")
    script = (
        "set -e; export PGHOST=$1 PGDATA=$1/data PATH=$2:$PATH\n"
        "initdb -A trust -N >/dev/null\n"
        "postgres -k $1 -c listen_addresses= -c fsync=off 2>$1/log & server=$!\n"
        "until pg_isready -q; do sleep 0.1; done\n"
        "pgbench -i -q postgres 2>/dev/null\n"
        "pgbench -n -c 4 -j 2 -t 200 postgres\n"
        "kill -INT $server; wait $server\n"
    )
    as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    words = ["bash", "-c", script, "bash", str(short_folder), str(found[-1])]
    made = measure([*as_server, "env", "-C", str(short_folder), *words])
    # Each client has a server process, besides other servers.
    names = made.heard.processes["name"].tolist()
    assert {"postgres", "pgbench"} <= set(names)
    made.check()


def test_nginx_with_its_workers(short_folder: Path) -> None:
    if not NGINX.exists():
        raise missing("nginx", "tools/install-test-packages unpacks it")
    (short_folder / "index.html").write_text("x" * 600)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {short_folder}/{kind};\n" for kind in kinds)
    rules = short_folder / "nginx.conf"
    listening = short_folder / "listening"
    rules.write_text(
        f"user nobody nogroup; daemon off; worker_processes 2; pid {short_folder}/pid;\n"
        "events {}\n"
        f"http {{ access_log off; {places}"
        f"server {{ listen unix:{listening}; root {short_folder}; }} }}\n"
    )

    def visit(pid: int) -> None:
        # nginx writes the file once it listens.
        wait_until((short_folder / "pid").exists)
        for _ in range(REQUESTS):
            with socket.socket(socket.AF_UNIX) as visitor:
                visitor.connect(str(listening))
                visitor.sendall(b"GET / HTTP/1.0\r\n\r\n")
                assert visitor.recv(64).startswith(b"HTTP/1.1 200")
        os.kill(pid, signal.SIGQUIT)

    log = str(short_folder / "error.log")
    made = measure([str(NGINX), "-c", str(rules), "-e", log], visit)
    assert made.heard.counts.started == 2
    made.check()
