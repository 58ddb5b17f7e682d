"""`tidscope ab` and experiments with variants on real programs."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from capabilities import needs
from processes import wait_until
from tidscope_processes import IN_PUBLIC, public_path, python_for

PYTHON = sys.executable
LOOP = "sum(range({count}))"
TIDSCOPE = (PYTHON, "-m", "tidscope_backend")
NO_SITE = (PYTHON, "-I", "-S", "-c")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without a running tidscope; runs and temporary folders are the test's."""
    (tmp_path / "tmp").mkdir()
    known = {k: value for k, value in os.environ.items() if not k.startswith("TIDSCOPE_")}
    return {
        **known,
        "TIDSCOPE_RUNS": str(tmp_path / "runs"),
        "TMPDIR": str(tmp_path / "tmp"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(tmp_path / "state"),
    }


def ab(
    environment: dict[str, str], *arguments: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TIDSCOPE, "ab", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def answer(environment: dict[str, str], *arguments: str, folder: Path | None = None) -> Any:
    done = ab(environment, "--json", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def looping(count: int) -> list[str]:
    return [*NO_SITE, LOOP.format(count=count)]


def test_a_slower_variant_is_worse_and_the_other_way_round_better(
    environment: dict[str, str],
) -> None:
    """By CPU time, which other programs of a busy machine change little: ten times the work."""
    small, large = looping(1_000_000), looping(10_000_000)
    options = ("--metric", "cpu", "--recorded", "0", "--time", "60")
    found = answer(environment, *options, "--", *small, "::", *large)
    assert found["verdict"] == "worse"
    low, high = found["interval"]
    assert 0 < low <= found["difference_percent"] <= high
    assert 100 < found["difference_percent"] < 2000
    assert (found["metric"], found["better"], found["seed"]) == ("cpu", "less", 1)
    assert found["pairs"] >= 4
    assert [one["name"] for one in found["variants"]] == ["old", "new"]
    assert found["variants"][0]["mean"] < found["variants"][1]["mean"]
    assert found["inside"] is None
    assert (Path(found["folder"]) / "report.html").stat().st_size > 0
    turned = answer(environment, *options, "--", *large, "::", *small)
    assert turned["verdict"] == "better"
    assert turned["interval"][1] < 0


def test_a_program_against_itself_is_neither_better_nor_worse(environment: dict[str, str]) -> None:
    """Peak memory does not depend on what else runs; wall time does, and may stay undecided."""
    command = looping(1000)
    found = answer(environment, "--recorded", "0", "--metric", "rss", "--", *command)
    assert found["verdict"] == "same", found["text"]
    low, high = found["interval"]
    assert -2 <= low <= high <= 2
    found = answer(environment, "--recorded", "0", "--time", "5", "--", *command)
    assert found["verdict"] in ("same", "undecided"), found["text"]
    assert (found["reason"] == "") == (found["verdict"] == "same")


def test_peak_memory_excludes_our_own(environment: dict[str, str]) -> None:
    """The kernel counts what a process had before execve(2), too: a Python has tens of MiB."""
    found = answer(environment, "--recorded", "0", "--metric", "rss", "--", "true")
    assert found["variants"][0]["mean"] < 6 * 2**20


def test_a_number_that_the_command_prints(environment: dict[str, str]) -> None:
    metric = ("--metric", "rate:more=/rate: ([0-9.]+)/", "--recorded", "0")
    found = answer(
        environment, *metric, "--", "echo", "rate: 100.5", "::", "echo", "a\nrate: 201\n"
    )
    assert found["verdict"] == "better"
    assert found["difference_percent"] == pytest.approx(100)
    assert [one["mean"] for one in found["variants"]] == [100.5, 201]
    done = ab(environment, *metric, "--", "echo", "none")
    assert done.returncode == 3
    assert "old: result rate: no line of the output matches" in done.stderr


def test_variants_may_differ_by_environment_only(environment: dict[str, str]) -> None:
    """Also: no shell expands words, and tidscope's own variables are not passed on."""
    text = (
        "import os, sys; assert sys.argv[1] == '$HOME *'; assert 'TIDSCOPE_RUNS' not in os.environ;"
        "print('n =', os.environ['N'])"
    )
    program = [*NO_SITE, text, "$HOME *"]
    options = ("--metric", "n:less=/n = ([0-9]+)/", "--recorded", "0")
    found = answer(environment, *options, "--", "N=10", *program, "::", "N=9", *program)
    assert found["verdict"] == "better"
    assert found["difference_percent"] == pytest.approx(-10)


def test_a_command_that_fails_is_shown_with_the_end_of_its_output(
    environment: dict[str, str],
) -> None:
    script = "echo one; echo 'two: password=hunter2' >&2; exit 7"
    done = ab(environment, "--json", "--", "true", "::", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (1, "")
    assert "new: ended with exit code 7; its output ends:" in done.stderr
    assert "one" in done.stderr
    assert "hunter2" not in done.stderr
    done = ab(environment, "--", "true", "::", "./none")
    assert done.returncode == 1
    assert "new: ./none cannot be started: No such file or directory" in done.stderr
    done = ab(environment, "--timeout", "0.2", "--", "sleep", "60", "::", "true")
    assert done.returncode == 1
    assert "old: did not end within 0.2 s" in done.stderr


def test_a_command_that_fails_now_and_then_ends_with_its_reason(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The warm-up succeeds; later runs fail, which is an exit code of its own."""
    script = f"echo x >> {tmp_path}/runs.txt; test $(wc -l < {tmp_path}/runs.txt) -lt 3"
    done = ab(environment, "--recorded", "0", "--", "true", "::", "sh", "-c", script)
    assert done.returncode == 3, done.stderr
    assert (
        "variant=new: a repeat failed: new: ended with exit code 1; it wrote nothing" in done.stderr
    )
    assert "It is undecided whether new differs from old. variant=new failed" in done.stdout


def test_processes_that_outlive_a_run_are_ended(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = f"sleep 1000 & echo $! >> {tmp_path}/pids; exit 0"
    answer(environment, "--recorded", "0", "--time", "1", "--", "sh", "-c", script)
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) >= 4

    def none_is_left() -> bool:
        return not any(command_of(pid) == b"sleep\x001000\x00" for pid in pids)

    wait_until(none_is_left)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """A program in a folder of a repository: two revisions, and a change that is not committed."""
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    program = folder / "src" / "program"
    for value in (10, 20):
        program.write_text(f"#!/bin/sh\ncat built; echo value {value}; {{ pwd; }} >&2\n")
        program.chmod(0o755)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"value {value}")
        git(folder, "tag", f"v{value}")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    program.write_text("#!/bin/sh\ncat built; echo value 40\n")
    yield folder


VALUE = ("--metric", "value:less=/value ([0-9]+)/", "--recorded", "0")
PREPARE = ("--prepare", "sh -c 'echo built > built'")


def worktrees(repository: Path) -> list[str]:
    return git(repository, "worktree", "list", "--porcelain").split("\n\n")[:-1]


def test_git_revisions_are_compared(
    environment: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    before = git(repository, "status", "--porcelain")
    revisions = ("--revision", "v10", "--revision", "v20")
    source = repository / "src"
    found = answer(environment, *VALUE, *PREPARE, *revisions, "--", "./program", folder=source)
    assert found["verdict"] == "worse"
    assert found["difference_percent"] == pytest.approx(100)
    assert git(repository, "status", "--porcelain") == before
    assert len(worktrees(repository)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "hook-ran").exists()


def test_a_revision_is_compared_with_the_folder_as_it_is(
    environment: dict[str, str], repository: Path
) -> None:
    source = repository / "src"
    one = ("--revision", "HEAD")
    found = answer(environment, *VALUE, *PREPARE, *one, "--", "./program", folder=source)
    assert found["difference_percent"] == pytest.approx(100)
    assert [one["mean"] for one in found["variants"]] == [20, 40]


def test_what_is_wrong_with_a_revision_is_said(
    environment: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    source = repository / "src"
    done = ab(environment, "--revision", "v99", "--", "./program", folder=source)
    assert done.returncode == 1
    assert "there is no revision v99" in done.stderr
    options = ("--revision", "v10", "--prepare", "sh -c 'echo no compiler; exit 2'")
    done = ab(environment, *options, "--", "./program", folder=source)
    assert done.returncode == 1
    assert "old: prepare: ended with exit code 2; its output ends:\n  no compiler" in done.stderr
    done = ab(environment, "--revision", "v10", "--", "true", folder=tmp_path)
    assert done.returncode == 1
    assert "not a git repository" in done.stderr
    assert len(worktrees(repository)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(
    environment: dict[str, str], repository: Path, tmp_path: Path, number: signal.Signals
) -> None:
    # The warm-ups end; the first run that is measured does not.
    script = (
        f"echo x >> {tmp_path}/count; test $(wc -l < {tmp_path}/count) -le 2 && exit; "
        f"echo $$ > {tmp_path}/pid; sleep 1000 & wait"
    )
    arguments = ("--revision", "v10", "--revision", "v20", "--", "sh", "-c", script)
    with subprocess.Popen(
        [*TIDSCOPE, "ab", *arguments],
        cwd=repository,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
            pid = int((tmp_path / "pid").read_text())
            wait_until(lambda: b"sleep\x001000\x00" in children_of(pid))
            assert len(worktrees(repository)) == 3
            process.send_signal(number)
            out, errors = process.communicate()
        finally:
            process.kill()
    assert (process.returncode, out) == (130, ""), errors
    assert "tidscope ab: interrupted" in errors
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert not running_in_group(pid)
    assert len(worktrees(repository)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []


def children_of(pid: int) -> list[bytes]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [command_of(int(one)) for one in text.split()]


def running_in_group(parent: int) -> Sequence[int]:
    """Processes whose parent was that one, before it ended: they are in its session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] not in "ZX":
            found.append(int(path.name))
    return found


LOCKS = """
import sys, threading
lock, hold = threading.Lock(), float(sys.argv[1])
def work():
    for _ in range(5):
        with lock:
            threading.Event().wait(hold)
threads = [threading.Thread(target=work) for _ in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
"""


@needs("root")
@needs("btf")
def test_recorded_runs_say_what_changed_inside(environment: dict[str, str]) -> None:
    """Four threads hold a lock in turn: more time in it, and more waits for it."""
    program = [*NO_SITE, LOCKS]
    options = ("--recorded", "2", "--time", "20")
    commands = ("--", *program, "0.002", "::", *program, "0.02")
    found = answer(environment, *options, *commands)
    assert found["verdict"] == "worse"
    inside = found["inside"]
    assert [len(inside[f"{side}_runs"]) for side in ("baseline", "variant")] == [2, 2]
    assert [one["runs"] for one in found["variants"]] == [
        inside["baseline_runs"],
        inside["variant_runs"],
    ]
    metrics = {one["metric"]: one for one in inside["metrics"]}
    assert metrics["duration_s"]["variant"] > metrics["duration_s"]["baseline"]
    assert metrics["cpu_run_ns"]["variant"] > 0
    runs = [*inside["baseline_runs"], *inside["variant_runs"]]
    for run in runs:
        manifest = json.loads(
            (Path(environment["TIDSCOPE_RUNS"]) / run / "manifest.json").read_text()
        )
        assert manifest["outcome"]["exit_code"] == 0
        assert manifest["group"].startswith("ab ")
    text = ab(environment, *options, *commands)
    assert "What changed inside, by 2 and 2 recorded runs:" in text.stdout
    assert "tidscope compare --totals r-" in text.stdout


@needs("root")
@needs("btf")
def test_a_figure_of_recorded_runs_decides(environment: dict[str, str]) -> None:
    program = [*NO_SITE, "import sys, time; [time.sleep(0.001) for _ in range(int(sys.argv[1]))]"]
    options = ("--metric", "voluntary_switches", "--time", "60")
    found = answer(environment, *options, "--", *program, "50", "::", *program, "200")
    assert (found["verdict"], found["better"]) == ("worse", "less")
    assert found["difference_percent"] > 50
    assert all(len(one["runs"]) >= 4 for one in found["variants"])


def test_a_file_with_three_variants(environment: dict[str, str], tmp_path: Path) -> None:
    text = """
version = 1
name = "three"
title = "Three sizes"
[[variant]]
name = "ten"
command = ["echo", "value 10"]
[[variant]]
name = "again"
[[variant]]
name = "twenty"
command = ["echo", "value 20"]
[difference]
metric = "value:less=/value ([0-9]+)/"
recorded = 0
"""
    (tmp_path / "three.toml").write_text(text)
    done = subprocess.run(
        [*TIDSCOPE, "experiment", str(tmp_path / "three.toml"), "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdicts = {one["variant"]: one for one in json.loads(done.stdout)["verdicts"]}
    assert {name: one["verdict"] for name, one in verdicts.items()} == {
        "again": "same",
        "twenty": "worse",
    }
    assert all(one["baseline"] == "ten" for one in verdicts.values())


@needs("root")
def test_without_rights_the_kernels_own_figures_are_compared() -> None:
    """As a user who sees no counters of others: CPU time, memory and a verdict all the same."""
    python = python_for("nobody")
    small, large = ([python, "-I", "-S", "-c", LOOP.format(count=n)] for n in (10**5, 10**7))
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        done = subprocess.run(
            [
                *(*IN_PUBLIC, "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"),
                *(python, "-m", "tidscope_backend", "ab", "--json", "--metric", "cpu"),
                *("--time", "60", "--recorded", "1", "--", *small, "::", *large),
            ],
            cwd="/",
            env={
                "PATH": os.environ["PATH"],
                "HOME": folder,
                "TMPDIR": folder,
                "PYTHONPATH": public_path(),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
    assert found["verdict"] == "worse"
    assert found["variants"][1]["mean"] > found["variants"][0]["mean"]
    assert "recording without rights" in done.stderr
    # Duration, threads and CPU time of a recording come from /proc.
    assert [len(one["runs"]) for one in found["variants"]] == [1, 1]
    assert found["inside"] is not None


DOCS = Path(__file__).parents[2] / "docs" / "experiments.md"


def documented() -> list[str]:
    """The commands of the documentation."""
    text = DOCS.read_text().split("\n## Before and after a change\n")[1].split("\n## ")[0]
    block = text.split("```\n")[1]
    return [line.split("  # ")[0].strip() for line in block.splitlines()]


def test_the_documented_commands_are_right(
    environment: dict[str, str], repository: Path, tmp_path: Path
) -> None:
    """Each in a folder that has what it names, with an end: values that do not vary, or 2 s."""
    assert len(documented()) == 7
    source = repository / "src"
    for name in ("old", "new", "app", "bench"):
        program = source / name
        program.write_text("#!/bin/sh\necho 100 req/s; echo value ${GOGC:-1}\n")
        program.chmod(0o755)
    (source / "Makefile").write_text("test:\n\ttrue\nall: test\n")
    for folder in ("a", "b"):
        (source / folder).mkdir()
        shutil.copy(source / "Makefile", source / folder)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "programs")
    for tag in ("v1", "v2"):
        git(repository, "tag", tag)
    for line in documented():
        _, verb, *words = shlex.split(line)
        assert verb == "ab"
        if "lock:main.mu" in words:
            continue  # Recorded, it needs a ledger.
        words = ["true" if one == "go build ./cmd/app" else one for one in words]
        place = words.index("--")
        words[place:place] = ["--recorded", "0", "--time", "2"]
        assert answer(environment, *words, folder=source)["verdict"] in (
            *("better", "worse", "same", "undecided"),
        )
