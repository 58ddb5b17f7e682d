"""Runs whose files contradict each other, or hold what readers cannot bear."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from run_archives import Files, read_table, table_bytes

Change = Callable[[Files], Files]
"""What somebody does to the files of a run."""


def changed_manifest(change: Callable[[dict[str, Any]], object]) -> Change:
    def changed(files: Files) -> Files:
        manifest = json.loads(files["manifest.json"])
        change(manifest)
        return {**files, "manifest.json": json.dumps(manifest).encode()}

    return changed


def changed_column(file: str, name: str, values: Callable[[list[object]], list[object]]) -> Change:
    def changed(files: Files) -> Files:
        table = read_table(files[file])
        place = table.column_names.index(name)
        column = pa.array(values(table[name].to_pylist()), table[name].type)
        return {**files, file: table_bytes(table.set_column(place, name, column))}

    return changed


SAMPLES, SIGNALS, EVENTS = "samples/000001.parquet", "signals/000001.parquet", "events/000001.jsonl"
PART = (SAMPLES, SIGNALS, EVENTS)
DECEIVING: dict[str, tuple[Change, str]] = {
    "a date that no program can name": (
        changed_manifest(lambda m: m.update(started_unix_us=10**18)),
        "year 9999",
    ),
    "a number that no database has": (
        changed_manifest(lambda m: m.update(to_ns=10**40)),
        "manifest.json",
    ),
    "a number that JSON does not have": (
        changed_manifest(lambda m: m["target"].update(rate_hz=float("nan"))),
        "cannot be read|JSON",
    ),
    "a field that is a column": (
        changed_manifest(lambda m: m["target"].update(fields=["seq", "cpu_delay_ns"])),
        "invalid names",
    ),
    "rows of frames that are not there": (
        changed_column(SAMPLES, "seq", lambda seqs: [10**9] * len(seqs)),
        "of no frame",
    ),
    "rows without a thread": (
        changed_column(SAMPLES, "tid", lambda tids: [None] * len(tids)),
        "no tid",
    ),
    "counters above int64": (
        changed_column(SAMPLES, "cpu_run_ns", lambda ns: [2**64 - 1] * len(ns)),
        "cpu_run_ns",
    ),
    "starts at the ends of time": (
        changed_column(SAMPLES, "start_ns", lambda ns: [-(2**63)] * len(ns)),
        "starts of threads",
    ),
    "rows of another level": (
        changed_column(SAMPLES, "level", lambda levels: [250] * len(levels)),
        "levels of rows",
    ),
    "frames that go back": (
        changed_column(SIGNALS, "seq", lambda seqs: seqs[::-1]),
        "numbers of frames",
    ),
    "times that go back": (
        changed_column(SIGNALS, "time_ns", lambda ns: ns[::-1]),
        "times of frames",
    ),
    "frames without a process": (
        changed_column(SIGNALS, "process", lambda rows: [None] * len(rows)),
        "cannot be read",
    ),
    "events of frames that are not there": (
        lambda files: {**files, EVENTS: files[EVENTS].replace(b'"seq":4', b'"seq":999')},
        "of no frame",
    ),
    "a part that is not the next": (
        lambda files: {**files, **{name.replace("1.", "3."): files[name] for name in PART}},
        "numbers of frames",
    ),
}
