"""The adapter for pools of other programs: its file, its commands, and their failures."""

import os
import re
import sys
from pathlib import Path

import pytest
from capabilities import needs
from processes import is_running, wait_until
from tidscope_agent.command import CommandError, CommandPool, become, numbers, run
from tidscope_agent.command_file import Command, CommandFileError, CommandKnob, load
from tidscope_agent.lease import Lease
from tidscope_agent.protocol import COMMAND, FailureError

GOOD = {
    "set": ["/bin/sh-is-not-run", "SET pool = {size}; rm -rf {HOME} $(id)"],
    "read": ["cat", "size"],
    "count": ["cat", "stats"],
    "count_match": r"^\w+\|(\d+)\|",
    "lower": 1,
    "upper": 50,
    "line": "pool = {size}",
}


ROWS = re.compile(r"^\w+\|(\d+)\|", re.MULTILINE)


def written(folder: Path, **changes: object) -> Path:
    path = folder / "knob.toml"
    content = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in content.items()))
    path.chmod(0o644)
    return path


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def test_only_the_size_is_replaced(tmp_path: Path) -> None:
    knob = load(written(tmp_path))
    assert knob.command(7) == (
        "/bin/sh-is-not-run",
        "SET pool = 7; rm -rf {HOME} $(id)",
    )
    assert (knob.lower, knob.upper, knob.line) == (1, 50, "pool = {size}")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"set": "psql {size}"}, "set must be a list"),
        ({"set": ["psql"]}, "set must have {size}"),
        ({"read": ["psql", "{size}"]}, "read takes no {size}"),
        ({"count": []}, "count must be a list"),
        ({"count": None}, "count is missing"),
        ({"upper": True}, "upper must be a number"),
        ({"lower": 9, "upper": 8}, "lower must be from 1 to upper"),
        ({"timeout_s": 5}, "timeout_s must be above 0"),
        ({"read_match": "("}, "read_match"),
        ({"read_match": "a"}, "read_match must have one group"),
        ({"line": "pool = 4"}, "line must be printable text, with {size}"),
        ({"shell": "sh"}, "shell is not known"),
    ],
)
def test_a_file_that_does_not_say_what_it_should_is_refused(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(CommandFileError, match=r"knob\.toml") as refused:
        load(written(tmp_path, **changes))
    assert words in str(refused.value)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.chmod(0o666)
    with pytest.raises(CommandFileError, match="nobody else may write it"):
        load(path)


def test_numbers_of_an_output() -> None:
    plain = Command(("cat",))
    assert numbers(plain, " 12\n") == [12.0]
    rows = Command(("cat",), ROWS)
    assert numbers(rows, "a|3|x\nb|4|y\n") == [3.0, 4.0]
    for command, text in ((plain, "twelve"), (rows, "nothing"), (plain, "-1"), (plain, "nan")):
        with pytest.raises(CommandError, match="prints no number"):
            numbers(command, text)


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-c", code)


def test_commands_run_side_by_side_without_a_shell() -> None:
    assert run([("echo", "$HOME;id"), ("echo", "2")], 120.0) == ["$HOME;id\n", "2\n"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("/nonexistent",), "No such file"),
        (python("import sys; sys.exit('no \\x1b such pool')"), "ended with 1: no ? such pool"),
        (python("print('x' * 70000)"), "prints too much"),
    ],
)
def test_a_command_that_fails_is_reported(command: tuple[str, ...], words: str) -> None:
    with pytest.raises(CommandError) as failed:
        run([command], 120.0)
    assert words in str(failed.value)


def test_a_command_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {left}.new; mv {left}.new {left}; wait"
    with pytest.raises(CommandError, match="takes too long"):
        run([("sh", "-c", script)], 1.0)
    # On a busy machine it may not have come so far.
    if left.exists():
        child = int(left.read_text())
        wait_until(lambda: not is_running(child))


class Files:
    """A pool whose size and operations are files."""

    def __init__(self, folder: Path) -> None:
        self.size, self.ops = folder / "size", folder / "ops"
        self.size.write_text("5")
        self.ops.write_text("db|10|\nother|5|\n")
        setting = python(f"import sys; open({str(self.size)!r}, 'r+').write(sys.argv[1])")
        self.knob = CommandKnob(
            set=(*setting, "{size}"),
            read=Command(("cat", str(self.size))),
            count=Command(("cat", str(self.ops)), ROWS),
            lower=1,
            upper=9,
        )


def test_a_lease_restores_the_size_that_was_found(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pool = CommandPool(files.knob)
    lease = Lease(pool, 1, 9)
    assert (pool.wanted, pool.counts().ops, pool.counts().queue_waits) == (5, 15, None)
    lease.set(object(), 3, 60.0)
    assert (files.size.read_text(), pool.counts().size) == ("3", 3)
    lease.release()
    assert files.size.read_text() == "5"


def test_a_size_that_cannot_be_set_is_reported_and_tried_again(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pool = CommandPool(files.knob)
    away = files.size.rename(tmp_path / "away")
    pool.resize(3)
    with pytest.raises(FailureError) as failed:
        pool.counts()
    assert failed.value.code == COMMAND
    assert "ended with 1" in str(failed.value)
    away.rename(files.size)
    wait_until(lambda: not pool.failure)
    assert pool.counts().size == 3


@needs("root")
@pytest.mark.parametrize(("user", "words"), [("", "another user"), ("root", "not run as root")])
def test_root_is_refused(user: str, words: str) -> None:
    assert os.geteuid() == 0
    with pytest.raises(CommandFileError, match=words):
        become(user)
