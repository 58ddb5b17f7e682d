"""Made journals of experiments."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidscope_backend.experiments.journal import FOLDER, Began, Entry, Journal, Repeated
from tidscope_backend.experiments.matrix import Cell
from tidscope_backend.experiments.workload import Value

NAME = "x-20261123-001500-1f2e3d"
Repeats = Sequence[float | Mapping[str, float]]
"""Throughput of each repeat, or all of its figures."""


def beginning(cells: Sequence[dict[str, Value]], **more: Any) -> Began:
    """The first entry."""
    known = Began(
        id=NAME,
        name="made",
        title="A made experiment",
        quick=False,
        digest="0",
        unix_us=1_790_000_000_000_000,
        cells=list(cells),
        least=2,
        most=4,
        deviation=0.05,
        seed=1,
        repeat_s=3.0,
        workloads=["pool-trace"],
        unit="requests",
        waits=True,
        speed_up=True,
        setup={"CPUs": "2", "frequency governor": "performance"},
    )
    return replace(known, **more)


def journal(measured: Sequence[tuple[dict[str, Value], Repeats]], **more: Any) -> list[Entry]:
    """A journal with these cells and their repeats."""
    entries: list[Entry] = [beginning([values for values, _ in measured], **more)]
    for values, repeats in measured:
        for one in repeats:
            figures = dict(one) if isinstance(one, Mapping) else {"throughput": one}
            entries.append(repeat(Cell(values).key, figures))
    return entries


def write_journal(runs: Path, entries: Sequence[Entry]) -> Path:
    """Write a journal into a runs directory; the folder of its experiment."""
    folder = runs / FOLDER / NAME
    folder.mkdir(parents=True)
    file = Journal(folder)
    for entry in entries:
        file.write(entry)
    file.close()
    return folder


def repeat(cell: str, figures: dict[str, float], *warnings: str) -> Repeated:
    """An entry of a repeat."""
    runs = ["r-20261123-001501-abcdef"]
    return Repeated(cell, 1_790_000_001_000_000, 4.0, runs, figures, list(warnings))
