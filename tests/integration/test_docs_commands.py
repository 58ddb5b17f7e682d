"""The commands of README and of the tutorial, run as a reader would run them."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from capabilities import missing, needs
from processes import wait_until
from programs.build import build_go_module, go_command, go_environment
from tidscope_backend.cli import main
from tidscope_backend.notebook import open_run
from tidscope_wire.states import SINCE

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", README, re.DOTALL)
LINES = [line.split("#")[0].strip() for pair in CODE for line in "".join(pair).splitlines()]
TARGETS = sorted({word for line in LINES if line.startswith("make ") for word in line.split()[1:2]})
VERBS = ["up", "serve", "collect", "doctor", "policies"]
OPTIONS = "--port 0 --no-open --json"


def environment() -> dict[str, str]:
    """Ours, without the variables that steer a make or a backend around us."""
    kept = ("PATH", "HOME", "LANG", "USER", "TMPDIR")
    return {name: value for name, value in os.environ.items() if name in kept}


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_readme_names_targets() -> None:
    assert {"up", "test", "wheel"} <= set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_exists(target: str) -> None:
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr


def test_make_alone_lists_the_targets() -> None:
    listed = make().stdout
    assert all(f"make {target} " in listed for target in ("up", "test", "check"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_of_the_command_line_explains_itself(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"`{verb}`" in README or f"tidscope {verb}" in README
    with pytest.raises(SystemExit, match="0"):
        main([verb, "--help"])
    assert f"usage: tidscope {verb}" in capsys.readouterr().out


def test_make_up_with_the_demo_has_an_attached_target() -> None:
    command = ["make", "--silent", "up", "DEMO=1", f"UP_ARGS={OPTIONS}"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            line = next((line for line in lines if line.startswith("{")), "")
            assert line, process.communicate(timeout=120)
            running = json.loads(line)
            answer = httpx.get(
                f"{running['address']}/api/v1/targets",
                headers={"authorization": f"Bearer {running['token']}"},
                timeout=120,
            )
            targets = answer.raise_for_status().json()["targets"]
            assert [target["state"] for target in targets] == ["attached"]
        finally:
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=120)
    assert "Traceback" not in said


TEXT = (ROOT / "docs" / "tutorials" / "where-the-time-goes.md").read_text()
CONTENDED = ROOT / "tests" / "programs" / "contended_go"
SECONDS = 2
"""Instead of the tutorial's: how long is recorded."""
STATES = re.compile(r"^state_.*_ns$")
LONG_SAMPLE_NS = 1_500_000_000
"""Length of a sample on a busy machine: an exit record is that much younger than its frame."""
WRITES = re.compile(rb"postgres: postgres postgres .*(UPDATE|INSERT|COMMIT|in transaction)")


def block(section: str, language: str, text: str = TEXT) -> str:
    """The first code block of a language in a section of a tutorial."""
    body = text.split(f"\n## {section}\n")[1].split("\n## ", maxsplit=1)[0]
    found = re.search(rf"```{language}\n(.*?)```", body, re.DOTALL)
    assert found is not None, f"{section} has no {language}"
    return found[1]


def commands(section: str, text: str = TEXT) -> list[list[str]]:
    """The commands of tidscope in a section, as words."""
    lines = block(section, "sh", text).splitlines()
    return [shlex.split(line) for line in lines if line.startswith("tidscope ")]


class Shell:
    """Runs commands of the tutorial, with a folder of runs of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
        path = f"{environment['PATH']}:{Path(go_command()).parent}"
        self._environment = {
            **environment,
            **{name: go_environment()[name] for name in ("GOCACHE", "GOFLAGS", "GOTOOLCHAIN")},
            "PATH": path,
            "TIDSCOPE_RUNS": str(folder / "runs"),
        }

    def run(self, words: list[str], folder: Path | None = None, **values: str) -> str:
        """Run a command; returns its output.

        Args:
            words: with names of variables in them.
            folder: where.
            values: values of these variables.
        """
        for name, value in values.items():
            words = [word.replace(f"${name}", value) for word in words]
        for option in ("--duration", "--seconds"):
            if option in words:
                words[words.index(option) + 1] = str(SECONDS)
        done = subprocess.run(
            [ROOT / ".venv/bin/tidscope", *words[1:]],
            cwd=folder or self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        assert "not sealed" not in done.stderr
        return done.stdout

    def states(self, name: str) -> dict[str, float]:
        """Shares of the states of a run; of each thread they add up to the time it was there."""
        found = json.loads(self.run(["tidscope", "runs", "show", name, "--json"]))
        manifest = found["manifest"]
        run_ns = manifest["to_ns"] - manifest["from_ns"]
        rows = open_run(self._folder / "runs" / manifest["id"]).threads().to_pylist()
        ends = {row["tid"]: (row["first"][SINCE], row["last"][SINCE]) for row in rows}
        for thread in found["threads"]:
            time_ns = sum_of_states(thread["fields"])
            assert time_ns <= run_ns * 1.001 + LONG_SAMPLE_NS
            if not thread["exited"] and thread["tid"] == manifest["target"]["process"]["pid"]:
                first_ns, last_ns = ends[thread["tid"]]
                assert time_ns == pytest.approx(last_ns - first_ns, rel=0.001)
        whole = sum_of_states(found["totals"])
        return {key: ns / whole for key, ns in found["totals"].items() if STATES.match(key)}


def sum_of_states(fields: dict[str, Any]) -> int:
    return sum(value for name, value in fields.items() if STATES.match(name))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program that ends with its standard input, or is ended."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@needs("root")
@needs("btf")
@needs("go")
def test_postgresql(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise missing("postgresql", "tools/install-test-packages installs it")
    programs = found[-1]
    # The server does not run as root, and its socket's path is short.
    folder = Path(f"/tmp/tidscope-postgres-{os.getpid()}")
    folder.mkdir()
    shutil.chown(folder, "postgres")
    as_server = ["runuser", "-u", "postgres", "--"]

    def server(*words: str) -> None:
        subprocess.run(
            [*as_server, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120
        )

    data, options = str(folder / "data"), f"-k {folder} -h ''"
    control = str(programs / "pg_ctl")
    bench = [str(programs / "pgbench"), "-h", str(folder), "-U", "postgres", "postgres"]
    try:
        server(str(programs / "initdb"), "-A", "trust", "-D", data)
        server(control, "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            subprocess.run([*bench, "-i", "-q"], check=True, capture_output=True, timeout=120)
            load = [*bench, "-n", "-c", "4", "-T", "120"]
            with started(load) as running:
                assert running.stdout is not None
                clients: list[int] = []

                def found_client() -> bool:
                    clients.extend(clients_of(folder))
                    return bool(clients)

                wait_until(found_client)
                client = clients[0]
                record, show = commands("PostgreSQL under pgbench")
                shell.run(record, PID=str(client))
                assert "WHERE THE TIME WENT" in shell.run(show)
            shares = shell.states("postgres-client")
            assert shares["state_poll_ns"] > 0
            assert shares["state_on_cpu_ns"] > 0
        finally:
            server(control, "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def clients_of(folder: Path) -> Iterator[int]:
    """Server processes that serve the load, by their titles; of the server in this folder only.

    Before the load, pgbench asks for the tables' size over a connection that it then closes. Its
    process is none of these: only those of the load write.
    """
    main = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            title = (path / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == main and WRITES.match(title):
            yield int(path.name)


@needs("root")
@needs("btf")
@needs("go")
def test_a_go_server(shell: Shell) -> None:
    """The tests' own one instead of etcd, which takes minutes to build."""
    program = build_go_module(CONTENDED, CONTENDED / "table")
    with started([str(program)]) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        record, show, locks = commands("etcd")
        shell.run(record, PID=str(process.pid))
        assert "WHERE THE TIME WENT" in shell.run(show)
        locks = [word.replace(":7070", f":{port}") for word in locks]
        assert "table.Table.slow" in shell.run(locks, CONTENDED)
    assert shell.states("etcd")["state_futex_ns"] > 0


@needs("root")
@needs("btf")
@needs("go")
def test_a_pool_of_python(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(block("A thread pool of CPython", "python"))
    record, show = commands("A thread pool of CPython")
    record[record.index("python3")] = sys.executable
    shell.run(record)
    assert "WHERE THE TIME WENT" in shell.run(show)
    # Eight workers share the GIL: most of them wait for it, or for a CPU to ask for it again.
    shares = shell.states("pool")
    assert shares["state_futex_ns"] > shares["state_on_cpu_ns"]


@needs("root")
@needs("btf")
@needs("go")
def test_a_build_by_maven(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "java"
    shutil.copytree(ROOT / "agents" / "java", folder, ignore=lambda *_: ["target"])
    record, show = commands("Maven")
    shell.run(record, folder)
    text = shell.run(show)
    assert "C2 CompilerThre" in text
    assert shell.states("maven")["state_futex_ns"] > 0.3


@needs("root")
@needs("btf")
@needs("go")
def test_every_command_is_run_here() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("tidscope ")]
    sections = ("PostgreSQL under pgbench", "etcd", "A thread pool of CPython", "Maven")
    assert [shlex.split(line) for line in lines] == [
        words for section in sections for words in commands(section)
    ]


FIRST = (ROOT / "docs" / "tutorials" / "first-ten-minutes.md").read_text()


@needs("root")
@needs("btf")
def test_the_first_ten_minutes(shell: Shell, tmp_path: Path) -> None:
    slow = block("Record a program", "python", FIRST)
    fast = block("Fix it", "python", FIRST)
    held = slow[slow.index("        with lock:") : slow.index("\n\nthreads =")]
    (tmp_path / "slow.py").write_text(slow)
    (tmp_path / "fast.py").write_text(slow.replace(held, fast))
    (up,) = commands("Look at a program", FIRST)
    assert up == ["tidscope", "up", "--demo"]
    waits = []
    for section in ("Record a program", "Fix it"):
        record, show = commands(section, FIRST)
        record[record.index("python3")] = sys.executable
        shell.run(record)
        shown = shell.run(show)
        name = record[record.index("--name") + 1]
        waits.append(shell.states(name)["state_futex_ns"])
    assert re.search(r"heap #\d+ in ", shell.run(["tidscope", "runs", "show", "before"]))
    assert "Voluntary context switches" in shown
    assert waits[1] < waits[0]
