"""`tidscope ab` with git revisions, interrupts, and the documented commands."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from ab_command import TIDSCOPE, ab, alone, answer, command_of
from processes import wait_until

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return alone(tmp_path)


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
        # A command that was started in the background of a shell may be deaf to Ctrl-C.
        ["env", "--default-signal=INT", *TIDSCOPE, "ab", *arguments],
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
            session = os.getsid(pid)
            assert len(worktrees(repository)) == 3
            process.send_signal(number)
            out, errors = process.communicate()
        finally:
            process.kill()
    assert (process.returncode, out) == (130, ""), errors
    assert "tidscope ab: interrupted" in errors
    wait_until(lambda: not running_in_session(session))
    assert len(worktrees(repository)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []


def children_of(pid: int) -> list[bytes]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [command_of(int(one)) for one in text.split()]


def running_in_session(session: int) -> Sequence[int]:
    """Processes of a session, also after the end of their parent."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(path.name))
    return found


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
