"""Output of `tidscope locks`: JSON, text, and experiment files that test a hint.

An experiment file compares a program before and after a change.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidscope_backend.locks.findings import Hint, LockUse, Measured, MeasuredSection

WIDTH = 100


@dataclass(frozen=True)
class Finding:
    """A reported lock.

    Attributes:
        lock: lock with all its operations.
        share: share of the basis; None without a profile.
        hints: hints for the lock.
        experiments: experiment files written, one per hint, or none.
    """

    lock: LockUse
    share: float | None
    hints: Sequence[Hint]
    experiments: Sequence[Path]


@dataclass(frozen=True)
class LockReport:
    """Content of the report.

    Attributes:
        answer: answer of the Go program.
        measured: totals of the profile; None without one.
        threshold: minimum share of a reported lock.
        findings: findings, most awaited first.
        below: number of locks below the threshold.
        source: origin of the measurements, as text.
    """

    answer: dict[str, Any]
    measured: Measured | None
    threshold: float
    findings: Sequence[Finding]
    below: int
    source: str

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values: waits in nanoseconds, shares as parts of 1."""
        contention = self.answer["contention"]
        return {
            "version": self.answer["version"],
            "directory": self.answer["directory"],
            "packages": self.answer["packages"],
            "measured": None
            if self.measured is None
            else {**asdict(self.measured), "basis": self.measured.basis, "source": self.source},
            "threshold": self.threshold,
            "findings": [_finding_json(one) for one in self.findings],
            "below_threshold": self.below,
            "unpaired": self.answer["unpaired"],
            "elsewhere": contention["elsewhere"] if contention else [],
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield from self._head()
        for finding in self.findings:
            yield ""
            yield from _finding_lines(finding, self.measured)
        yield from self._tail()

    def _head(self) -> Iterator[str]:
        sections = self.answer["sections"]
        strays = [one for one in self.answer["unpaired"] if not one["for_caller"]]
        yield (
            f"{len(self.answer['locks'])} locks, {len(sections)} critical sections, "
            f"{len(strays)} lock operations without a counterpart"
        )
        if self.measured is None:
            yield "Not measured: --profile adds what is waited for (see --help)."
            return
        waited = _duration(self.measured.wait_ns)
        yield f"Measured: {self.source}: {waited} waited, {self.measured.waits} waits" + (
            f", in {self.measured.seconds:g} s"
            if self.measured.seconds
            else "; the time that it covers is unknown (--seconds), so shares are of all waits"
        )
        if self.measured.waits == 0:
            yield "Nothing was waited for, or the program does not sample it: see"
            yield "runtime.SetMutexProfileFraction."

    def _tail(self) -> Iterator[str]:
        if self.below:
            yield ""
            by_time = self.measured is not None and self.measured.basis == "time"
            whole = "the time" if by_time else "all waits"
            yield f"{self.below} more locks below {self.threshold * 100:g} % of {whole}: --all"
        strays = [one for one in self.answer["unpaired"] if not one["for_caller"]]
        if strays:
            yield ""
            yield "Without a counterpart:"
            for one in strays:
                place = f"{one['place']['file']}:{one['place']['line']}"
                locks = " or ".join(map(_short, one["locks"]))
                yield f"  {place}  {one['does']} {locks}: {one['reason']}"
        contention = self.answer["contention"]
        elsewhere = contention["elsewhere"] if contention else []
        shown = [one for one in elsewhere if self._share(one["wait_ns"]) >= self.threshold]
        if shown:
            yield ""
            yield "Waited for in other packages:"
            for one in shown:
                share = self._share(one["wait_ns"])
                yield f"  {share:7.1%}  {one['function']} ({one['file']}:{one['line']})"

    def _share(self, wait_ns: int) -> float:
        return 0.0 if self.measured is None else self.measured.share(wait_ns)


def _finding_json(finding: Finding) -> dict[str, Any]:
    lock = finding.lock
    return {
        "lock": lock.name,
        "kind": lock.kind,
        "holder": lock.holder,
        "declared": lock.declared,
        "share": finding.share,
        "wait_ns": lock.wait_ns,
        "waits": lock.waits,
        "sections": [
            {**section.facts, "wait_ns": section.wait_ns, "waits": section.waits}
            for section in lock.sections
        ],
        "unpaired": list(lock.strays),
        "hints": [asdict(hint) for hint in finding.hints],
        "experiments": [str(path) for path in finding.experiments],
    }


def _finding_lines(finding: Finding, measured: Measured | None) -> Iterator[str]:
    lock = finding.lock
    at = f", {lock.declared['file']}:{lock.declared['line']}" if lock.declared else ""
    share = "" if finding.share is None else f"  {finding.share:.1%}"
    yield f"{_short(lock.name)}  ({lock.kind}, {lock.holder}{at}){share}"
    yield f"  {'waited':>9}  {'mode':5}  {'lines':12}  {'instr.':>6}  {'calls':>5}  function"
    for section in lock.sections:
        yield f"  {_waited(section, measured):>9}  {_section_line(section)}"
    for hint in finding.hints:
        yield from _wrapped(f"  {hint.name}: ", hint.text)
        for one in hint.evidence:
            yield f"      {one.place['file']}:{one.place['line']}  {one.text}"
    if not finding.hints:
        yield "  No rule fits: the sections are short and do nothing that could wait."
    for path in finding.experiments:
        yield f"  experiment: {path}"


def _section_line(section: MeasuredSection) -> str:
    facts = section.facts
    lines = _lines(facts["locked_at"]) + "-" + _lines(facts["unlocked_at"])
    mode = "reads" if facts["reads_only"] else "write"
    if facts["mode"] == "read":
        mode = "RLock" if facts["reads_only"] else "RLock!"
    return (
        f"{mode:5}  {lines:12}  {facts['instructions']:6}  {facts['calls']:5}  "
        f"{_short(facts['function'])}"
    )


def _lines(operations: Sequence[dict[str, Any]]) -> str:
    return ",".join("end" if one["deferred"] else str(one["line"]) for one in operations)


def _waited(section: MeasuredSection, measured: Measured | None) -> str:
    if section.wait_ns is None or measured is None:
        return "?"
    return f"{measured.share(section.wait_ns):.1%}"


def _wrapped(first: str, text: str) -> Iterator[str]:
    line = first
    for word in text.split():
        if len(line) + len(word) > WIDTH:
            yield line.rstrip()
            line = "    "
        line += f"{word} "
    yield line.rstrip()


def _duration(ns: int) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"


def _short(name: str) -> str:
    return name.rpartition("/")[2]


VERSION = 1
MAX_NAME, MAX_TITLE = 40, 120


@dataclass(frozen=True)
class Program:
    """Program and measurement of an experiment.

    Attributes:
        directory: folder of the unchanged module.
        command: command line; empty if there is none.
        metric: measurement: `go-bench` (the output of `go test -bench`) or `wall`.
    """

    directory: str
    command: str
    metric: str


def choose_program(answer: dict[str, Any], lock: LockUse, given: str | None) -> Program:
    """Choose the program that shows a lock's effect: a given command or the package's benchmarks.

    Args:
        answer: answer of the Go program.
        lock: lock to be changed.
        given: command line, or None.
    """
    directory = str(answer["directory"])
    if given:
        return Program(directory, given, "wall")
    package = _package(answer["packages"], lock.name)
    if not any(name.startswith(f"{package}.") for name in answer["benchmarks"]):
        return Program(directory, "", "wall")
    command = ("go", "test", "-run=^$", "-bench=.", "-benchtime=200ms", package)
    return Program(directory, shlex.join(command), "go-bench")


def _package(packages: Sequence[str], lock: str) -> str:
    return max((one for one in packages if lock.startswith(f"{one}.")), key=len, default="")


def file_name(lock: LockUse, hint: Hint) -> str:
    """Return a file name such as `cache.Store.mu-shard.toml`."""
    short = lock.name.rpartition("/")[2]
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', short).strip('-.')}-{hint.name}.toml"


def experiment_text(lock: LockUse, hint: Hint, program: Program) -> str:
    """Return an experiment file with two variants, before and after a change."""
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
        "[[variant]]",
        'name = "before"',
        *([] if program.command else ["# No benchmark was found: what shows the effect?"]),
        f"command = [{', '.join(map(_text, shlex.split(program.command)))}]",
        f"directory = {_text(program.directory)}",
        "",
        "[[variant]]",
        'name = "after"',
        f"directory = {_text(f'{program.directory}-{hint.name}')}",
        "",
        "[difference]",
        f"metric = {_text(program.metric)}",
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
