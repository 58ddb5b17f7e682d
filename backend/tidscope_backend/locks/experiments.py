"""Experiment files: what to run, before and after a change, to see whether a hint was right."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidscope_backend.locks.findings import LockUse
from tidscope_backend.locks.hints import Hint

VERSION = 1
REPEATS = {"warm_up": 1, "least": 5, "most": 20}
DEVIATION = 0.05


@dataclass(frozen=True)
class Program:
    """What an experiment runs.

    Attributes:
        directory: the module as it is.
        command: the program and its arguments; empty if there is none to run.
        metric: its name.
        source: how it is found: `go-bench` (the output of `go test -bench`), or `wall-time`.
    """

    directory: str
    command: Sequence[str]
    metric: str
    source: str


def choose_program(answer: dict[str, Any], lock: LockUse, given: str | None) -> Program:
    """What shows whether a change of a lock helps: a given command, or the package's benchmarks.

    Args:
        answer: of the Go program.
        lock: that is to be changed.
        given: a command line.
    """
    directory = str(answer["directory"])
    if given:
        return Program(directory, shlex.split(given), "seconds", "wall-time")
    package = _package(answer["packages"], lock.name)
    if not any(name.startswith(f"{package}.") for name in answer["benchmarks"]):
        return Program(directory, (), "seconds", "wall-time")
    command = ("go", "test", "-run=^$", "-bench=.", "-benchtime=200ms", package)
    return Program(directory, command, "ns/op", "go-bench")


def _package(packages: Sequence[str], lock: str) -> str:
    return max((one for one in packages if lock.startswith(f"{one}.")), key=len, default="")


def file_name(lock: LockUse, hint: Hint) -> str:
    """As `cache.Store.mu-shard.toml`."""
    short = lock.name.rpartition("/")[2]
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', short).strip('-.')}-{hint.name}.toml"


def experiment_text(lock: LockUse, hint: Hint, program: Program) -> str:
    """An experiment as TOML.

    Tables: `change` (what is suggested, and where), `program` (`command`, run in the directory of a
    variant), `variant` (before and after), `metric` (`name`, `source`, `better`), `repeats`
    (`warm_up`, `least` and `most` runs, until the standard deviation of the runs divided by their
    mean is below `deviation`).
    """
    places = [f"{one.place['file']}:{one.place['line']}" for one in hint.evidence]
    lines = [
        "# Written by `tidscope locks`. Make the change in a copy of the module, and write where",
        "# the copy is in the directory of the variant `after`.",
        f"version = {VERSION}",
        f"name = {_text(file_name(lock, hint).removesuffix('.toml'))}",
        "",
        "[change]",
        f"lock = {_text(lock.name)}",
        f"hint = {_text(hint.name)}",
        f"description = {_text(hint.text)}",
        f"places = {_list(places)}",
        "",
        "[program]",
        *([] if program.command else ["# No benchmark was found: what shows the effect?"]),
        f"command = {_list(program.command)}",
        "",
        "[[variant]]",
        'name = "before"',
        f"directory = {_text(program.directory)}",
        "",
        "[[variant]]",
        'name = "after"',
        'directory = ""',
        "",
        "[metric]",
        f"name = {_text(program.metric)}",
        f"source = {_text(program.source)}",
        'better = "lower"',
        "",
        "[repeats]",
        *(f"{name} = {number}" for name, number in REPEATS.items()),
        f"deviation = {DEVIATION}",
    ]
    return "\n".join(lines) + "\n"


def write_experiment(folder: Path, lock: LockUse, hint: Hint, program: Program) -> Path:
    """Write the file and return its path; an older one of that name is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(lock, hint)
    path.write_text(experiment_text(lock, hint, program), "utf-8")
    return path


def _text(text: str) -> str:
    # JSON's strings are TOML's basic strings, but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"
