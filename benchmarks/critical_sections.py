"""Critical sections of the five packages of GOCC's table 2.1, as `tidscope locks` finds them.

`python benchmarks/critical_sections.py [MODULE@VERSION…]` fetches the modules from the Go module
proxy into a temporary folder, reads their packages and prints a table in Markdown. Without
arguments they are the last versions before GOCC was published (ASPLOS 2021).
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidscope_backend.locks.toolchain import analyze, go_command

MODULES = (
    "github.com/uber-go/tally@v3.3.17",
    "go.uber.org/zap@v1.16.0",
    "github.com/patrickmn/go-cache@v2.1.0",
    "github.com/VictoriaMetrics/fastcache@v1.5.8",
    "github.com/deckarep/golang-set@v1.7.1",
)
UNFIT = frozenset({"io", "sleep", "wait", "channel", "goroutine"})
"""Effects in a section for which a hardware transaction aborts, or that must not be repeated."""
HEAD = (
    "| module | version | packages | lines | lock points | unlock points (deferred) "
    "| against dominance | candidate pairs | unfit, directly / in calls | same lock inside "
    "| left (deferred) |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


@dataclass(frozen=True)
class Row:
    """A row of table 2.1.

    Attributes:
        locks: places that lock.
        unlocks: places that unlock.
        deferred: deferred ones among the unlocks.
        against_dominance: lock and unlock places that no rule of GOCC pairs.
        candidates: pairs by dominance, or with a deferred unlock.
        unfit_directly: candidates with an unfit effect in the section itself.
        unfit_in_calls: further candidates with one in a function that they call.
        nested: further candidates that may take the same lock again.
        left: the other candidates, which GOCC would transform.
        left_deferred: those of them with a deferred unlock.
    """

    locks: int
    unlocks: int
    deferred: int
    against_dominance: int
    candidates: int
    unfit_directly: int
    unfit_in_calls: int
    nested: int
    left: int
    left_deferred: int


def row_of(answer: Mapping[str, Any]) -> Row:
    """Count the sections of an answer of the analyser (advisor/analysis/report.go, `Report`)."""
    locks, unlocks, deferred, against = (set[tuple[str, int]]() for _ in range(4))
    left: list[str] = []
    candidates = directly = in_calls = nested = 0
    for section in answer["sections"]:
        own = {
            name: [one for one in section[name] if not one["via"]]
            for name in ("locked_at", "unlocked_at")
        }
        locks.update(map(_place, own["locked_at"]))
        unlocks.update(map(_place, own["unlocked_at"]))
        deferred.update(_place(one) for one in own["unlocked_at"] if one["deferred"])
        if section["rule"] == "paths":
            against.update(map(_place, own["locked_at"] + own["unlocked_at"]))
            continue
        candidates += 1
        unfit = [one for one in section["effects"] if one["what"] in UNFIT]
        if any(not one["chain"] for one in unfit):
            directly += 1
        elif unfit:
            in_calls += 1
        elif any(one["what"] == "same-lock" for one in section["effects"]):
            nested += 1
        else:
            left.append(section["rule"])
    for one in answer["unpaired"]:
        (unlocks if one["does"].endswith("unlock") else locks).add(_place(one["place"]))
        against.add(_place(one["place"]))
    return Row(
        *(len(locks), len(unlocks), len(deferred), len(against), candidates),
        *(directly, in_calls, nested, len(left), left.count("defer")),
    )


def _place(one: Mapping[str, Any]) -> tuple[str, int]:
    return one["file"], one["line"]


@dataclass(frozen=True)
class Fetched:
    """A module with its dependencies.

    Attributes:
        version: version that the proxy knows.
        packages: packages that can be built.
        left_out: number of packages whose dependencies the proxy lacks.
        lines: lines of these packages, without tests and blank lines.
    """

    version: str
    packages: list[str]
    left_out: int
    lines: int


def fetch(module: str, folder: Path) -> Fetched:
    """Copy a module of the proxy to a folder, and fetch its dependencies."""
    found = json.loads(_go(folder.parent, "mod", "download", "-json", module))
    shutil.copytree(found["Dir"], folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    if not (folder / "go.mod").exists():
        _go(folder, "mod", "init", module.partition("@")[0])
    # Errors: old modules without go.mod name packages that have no modules.
    _go(folder, "mod", "tidy", "-e")
    fields = "-json=ImportPath,Dir,GoFiles,Error,DepsErrors"
    listed = _documents(_go(folder, "list", "-e", fields, "./..."))
    whole = [one for one in listed if not one.get("Error") and not one.get("DepsErrors")]
    files = [Path(one["Dir"], name) for one in whole for name in one.get("GoFiles", ())]
    return Fetched(
        version=found["Version"],
        packages=[one["ImportPath"] for one in whole],
        left_out=len(listed) - len(whole),
        lines=sum(bool(line.strip()) for path in files for line in path.open(encoding="utf-8")),
    )


def _go(folder: Path, *arguments: str) -> str:
    command = [go_command(), *arguments]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def _documents(text: str) -> list[dict[str, Any]]:
    """Return JSON documents that follow each other."""
    decoder, documents, place = json.JSONDecoder(), [], 0
    while place < len(text.rstrip()):
        document, place = decoder.raw_decode(text, place + (text[place] == "\n"))
        documents.append(document)
    return documents


def main(modules: Sequence[str]) -> None:
    """Print the table."""
    print(HEAD)
    for module in modules:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "module"
            found = fetch(module, folder)
            row = row_of(analyze(folder, found.packages, None))
            packages = f"{len(found.packages)} of {len(found.packages) + found.left_out}"
            print(
                f"| {module.partition('@')[0]} | {found.version} | {packages} | {found.lines:,} "
                f"| {row.locks} | {row.unlocks} ({row.deferred}) | {row.against_dominance} "
                f"| {row.candidates} | {row.unfit_directly} / {row.unfit_in_calls} | {row.nested} "
                f"| {row.left} ({row.left_deferred}) |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:] or MODULES)
