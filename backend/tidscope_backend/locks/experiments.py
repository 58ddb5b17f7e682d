"""Experiment files that compare a program before and after a change, to test a hint."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidscope_backend.locks.findings import Hint, LockUse

VERSION = 1
MEASURE_S = 1.0
"""Minimum duration of a repeat, in seconds; longer runs of the command are completed."""
REPEATS = {"least": 5, "most": 20}
DEVIATION = 0.05
MAX_NAME, MAX_TITLE = 40, 120


@dataclass(frozen=True)
class Program:
    """Program and measurement of an experiment.

    Attributes:
        directory: folder of the unchanged module.
        command: command line; empty if there is none.
        figure: measurement: `go-bench` (the output of `go test -bench`) or `wall-time`.
    """

    directory: str
    command: str
    figure: str


def choose_program(answer: dict[str, Any], lock: LockUse, given: str | None) -> Program:
    """Choose the program that shows a lock's effect: a given command or the package's benchmarks.

    Args:
        answer: answer of the Go program.
        lock: lock to be changed.
        given: command line, or None.
    """
    directory = str(answer["directory"])
    if given:
        return Program(directory, given, "wall-time")
    package = _package(answer["packages"], lock.name)
    if not any(name.startswith(f"{package}.") for name in answer["benchmarks"]):
        return Program(directory, "", "wall-time")
    command = ("go", "test", "-run=^$", "-bench=.", "-benchtime=200ms", package)
    return Program(directory, shlex.join(command), "go-bench")


def _package(packages: Sequence[str], lock: str) -> str:
    return max((one for one in packages if lock.startswith(f"{one}.")), key=len, default="")


def file_name(lock: LockUse, hint: Hint) -> str:
    """Return a file name such as `cache.Store.mu-shard.toml`."""
    short = lock.name.rpartition("/")[2]
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', short).strip('-.')}-{hint.name}.toml"


def experiment_text(lock: LockUse, hint: Hint, program: Program) -> str:
    """Return an experiment file of the workload `command`, before and after a change."""
    name = re.sub("[^a-z0-9]+", "-", file_name(lock, hint).removesuffix(".toml").lower())
    short = lock.name.rpartition("/")[2]
    title = f"{short}: {hint.text}"
    places = [f"{one.place['file']}:{one.place['line']}" for one in hint.evidence]
    lines = [
        "# Written by `tidscope locks`. Copy the module to the folder `after`, make the change",
        "# there, and call `tidscope experiment` with this file.",
        f"# Lock: {_line(lock.name)}",
        f"# Change ({hint.name}): {_line(hint.text)}",
        *(f"# At: {_line(place)}" for place in places),
        f"version = {VERSION}",
        f"name = {_text(name[-MAX_NAME:].strip('-'))}",
        f"title = {_text(_shortened(title))}",
        "",
        "[[program]]",
        'workload = "command"',
        *([] if program.command else ["# No benchmark was found: what shows the effect?"]),
        f"command = {_text(program.command)}",
        f"figure = {_text(program.figure)}",
        f"before = {_text(program.directory)}",
        f"after = {_text(f'{program.directory}-{hint.name}')}",
        "",
        "[matrix]",
        'variant = ["before", "after"]',
        "",
        "[time]",
        "warm_up_s = 0",
        f"measure_s = {MEASURE_S:g}",
        "",
        "[repeats]",
        *(f"{key} = {number}" for key, number in REPEATS.items()),
        f"deviation = {DEVIATION}",
    ]
    return "\n".join(lines) + "\n"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TITLE else f"{text[: MAX_TITLE - 1]}…"


def _line(text: str) -> str:
    """Return a text for a TOML comment, which allows no control characters."""
    return re.sub(r"[\x00-\x1f\x7f]+", " ", text)


def write_experiment(folder: Path, lock: LockUse, hint: Hint, program: Program) -> Path:
    """Write the file and return its path; an existing file is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(lock, hint)
    path.write_text(experiment_text(lock, hint, program), "utf-8")
    return path


def _text(text: str) -> str:
    # JSON strings are valid basic strings of TOML, except for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
