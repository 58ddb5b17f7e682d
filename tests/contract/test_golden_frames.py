"""Frames that the page's decoder is tested with, made by the Python codec.

`frames.json` has each frame and its content. The page's tests read it
(frontend/src/wire/frame.test.ts). Run this file as a script to write them again:

    PYTHONPATH=shared:tests .venv/bin/python tests/contract/test_golden_frames.py
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from builders import frame_header
from golden_cases import contents, golden_frames, write_frames
from schema_check import members
from tidscope_wire.frame import FrameDecoder, RowEncoder, Rows, join, split
from tidscope_wire.frame_tables import Table, Tables, empty_table, make_table
from tidscope_wire.generated.models import FrameHeader, TableName
from tidscope_wire.table_streams import decode_tables, encode_tables

FIELDS = ("cpu_run_ns", "cpu_delay_ns", "voluntary_switches", "disk_read_bytes", "blkio_delay_ns")
ONE_OF_EACH: tuple[dict[str, Any], ...] = (
    {"type": "thread_born", "tid": 13, "start_ns": 150_000_000, "name": "worker-3"},
    {"type": "thread_renamed", "tid": 11, "name": "io-ü", "previous": "worker-1"},
    {
        "type": "thread_exited",
        "tid": 12,
        "start_ns": -5_000_000_000,
        "name": "worker-2",
        "totals": {"cpu_run_ns": 2_500_000_000, "voluntary_switches": 7},
        "exact": True,
        "seen_alive": True,
    },
    {"type": "rate_changed", "rate_hz": 20, "previous_hz": 10},
    {
        "type": "rate_adapted",
        "rate_hz": 5,
        "previous_hz": 20,
        "requested_hz": 20,
        "overhead_percent": 3.25,
        "budget_percent": 2,
    },
    {"type": "deadlines_missed", "count": 2},
    {"type": "exit_records_lost", "count": 408},
    {"type": "gap", "from_seq": 1, "to_seq": 1, "reason": "replay buffer full"},
    {"type": "gomaxprocs_changed", "size": 4, "previous": 8},
    {"type": "sample_failed", "reason": "ESRCH"},
    {
        "type": "counters_source_changed",
        "source": "genetlink",
        "previous": "walk",
        "reason": "cpu_count of thread 12 is 5 by walk and 4 by taskstats",
        "disagreed": True,
    },
    {
        "type": "program_executed",
        "name": "sh",
        "executable": "/usr/bin/dash",
        "previous": "/usr/bin/env",
    },
    {
        "type": "steering_started",
        "policy": "kalman-kg",
        "shadow": False,
        "knob": "go-agent",
        "signal": "agent-ops",
        "proxy": False,
        "lower": 1,
        "upper": 16,
        "size": 16,
        "actor": "the page at 127.0.0.1",
    },
    {
        "type": "steering_decided",
        "number": 3,
        "policy": "kalman-kg",
        "at_ns": 2_000_000_000,
        "elapsed_s": 2.0,
        "ops": 20_000,
        "mean_wait_s": None,
        "size": 16,
        "next_size": 14,
        "proposed": None,
        "state": "searching",
        "reason": "It is worth knowing what 14 gives.",
        "counted": True,
        "probing": True,
    },
    {
        "type": "search_restarted",
        "policy": "kalman-kg",
        "reason": "somebody asked for it",
        "actor": "the page at 127.0.0.1",
    },
    {"type": "steering_problem", "policy": "kalman-kg", "problem": "The agent did not answer."},
    {
        "type": "steering_proven",
        "policy": "kalman-kg",
        "proof": {
            "verdict": "better",
            "pairs": 5,
            "discarded": 1,
            "gain_percent": 9.5,
            "low_percent": 2.25,
            "high_percent": None,
            "lost_s": -3.5,
            "elapsed_s": 210.0,
            "steers": True,
            "text": "The policy is better: +9.5%, after 5 pairs of blocks.",
        },
    },
    {
        "type": "steering_swept",
        "policy": "sweep",
        "sweep": {
            "verdict": "decided",
            "start": 16,
            "rounds": 4,
            "discarded": 1,
            "points": [
                {"size": 8, "ops_per_s": 950.5, "low": 940.0, "high": 961.25, "rounds": 4},
                {"size": 16, "ops_per_s": 700.0, "low": None, "high": None, "rounds": 2},
            ],
            "best": 8,
            "knee": 8,
            "knee_from": 8,
            "knee_to": 8,
            "gain": {"percent": 35.75, "low_percent": 30.0, "high_percent": None},
            "refused": [4],
            "line": "GOMAXPROCS=8",
            "lost_s": 2.5,
            "elapsed_s": 90.0,
            "text": "8 is the smallest size within 3% of the best.",
        },
    },
    {"type": "steering_released", "policy": "kalman-kg", "size": 16, "actor": "a program"},
    {"type": "target_exited", "exit_code": None},
    {"type": "target_detached"},
)
TABLES: dict[TableName, Table] = {
    "stays": make_table(
        "stays", {"tid": [10, 10], "state": [4, 24], "bucket": [0, 23], "count": [7, 2**53 - 1]}
    ),
    "wakes": make_table(
        "wakes",
        {
            "waker_tid": [10, 0, 3],
            "waker_pid": [10, 0, 2],
            "wakee_tid": [11, 11, 4_000_000_000],
            "party": [0, 0, 7],
            "waker_kernel": [0, 0, 1],
            "count": [900, 1, 2],
            "blocked_ns": [10**12, 0, 1],
            "delay_ns": [5 * 10**9, 3, 2],
            "waker_name": ["worker-0", "interrupt", "kworker/ü"],
        },
    ),
    "lock_names": make_table(
        "lock_names",
        {
            "lock": [1],
            "address": [2**47 - 8],
            "name": ["pool_mu"],
            "kind": ["lock"],
            "source": ["futex"],
            "symbol_file": [""],
        },
    ),
    "parties": make_table(
        "parties",
        {"party": [6, 7], "pid": [20, 20], "start_ticks": [2**40, 2**40 + 1], "many": [0, 1]}
        | {"name": ["python", "kworker/ü"], "title": ["python -m http.server", ""]}
        | {"container": ["web", ""], "unit": ["a.service", ""], "cgroup": ["/a/b", ""]},
    ),
    "calls": empty_table("calls"),
    "processes": make_table(
        "processes",
        {
            "process": [1, 2, 9],
            "pid": [10, 20, 0],
            "parent": [0, 1, 0],
            "start_ticks": [2**40, 2**40 + 1, 0],
            "count": [1, 1, 2000],
            "live": [1, 1, 0],
            "threads": [1, 2, 0],
            "threads_ended": [0, 3, 2000],
            "cpu_ns": [3 * 10**6, 2**53 - 1, 10**12],
            **{
                name: [1, 0, 2]
                for name in (
                    *("run_delay_ns", "blkio_delay_ns", "read_bytes", "write_bytes", "rx_bytes"),
                    *("tx_bytes", "minor_faults", "major_faults", "switches"),
                )
            },
            "gomaxprocs": [0, 8, 0],
            "namespace_pid": [0, 7, 0],
            "name": ["make", "sh", "cc1"],
            "title": ["make -j4", "/bin/sh -c ü", ""],
            "user": ["root", "1000", "root"],
            "container": ["", "web", ""],
            "unit": ["session-1.scope", "", ""],
        },
    ),
    "stack_frames": make_table(
        "stack_frames",
        {
            "frame": [1, 2],
            "kind": ["native", "python"],
            "function": ["<vec::Vec<T> as Drop>::drop", "größe"],
            "file": ["vec.rs", ""],
            "line": [41, 0],
            "module": ["server", ""],
            "address": [2**47 - 8, 0],
            "build_id": ["5d41402abc4b2a76", ""],
            "inlined": ["drop_in_place\tptr.rs\t7\nfree\t\t0", ""],
        },
    ),
    "stack_nodes": make_table(
        "stack_nodes", {"node": [1, 2, 3], "parent": [0, 1, 1], "frame": [2, 1, 2]}
    ),
    "stack_samples": make_table(
        "stack_samples",
        {
            "sample": [1, 4_000_000_000],
            **{"tid": [11, 10], "state": [4, 1], "node": [3, 0], "weight": [16, 1]},
            **{"begin_ns": [10**9, 2**53 - 1], "wait_ns": [10**6, 0], "delay_ns": [50_000, 0]},
            **{"lock": [1, 0], "waker_pid": [10, 0], "waker_tid": [10, 0], "waker_node": [2, 0]},
        },
    ),
    "stack_counts": make_table("stack_counts", {"what": [1, 6], "count": [2, 2**53 - 1]}),
}
"""Columns of each type, texts of different lengths, and a table without rows."""
COUNTS = {"live": 2, "started": 7, "ended": 6, "unseen": 5, "missed": 0, "check": None}
CHECK = {
    "cpu_by": "cpu.stat",
    "threads_cpu_ns": 2**53 - 1,
    "kernel_cpu_ns": 2**53 - 2,
    "io_by": None,
    "threads_read_bytes": None,
    "kernel_read_bytes": None,
    "threads_write_bytes": 0,
    "kernel_write_bytes": 1,
}
IN_A_PROCESS: tuple[dict[str, Any], ...] = (
    {"type": "thread_born", "tid": 30, "start_ns": 9, "name": "cc1", "pid": 30},
    {
        "type": "program_executed",
        "name": "as",
        "executable": "/usr/bin/as",
        "previous": None,
        "pid": 30,
    },
    {"type": "gomaxprocs_changed", "size": 4, "previous": 8, "pid": 20},
)
ROLES: tuple[dict[str, Any], ...] = (
    {"role": "worker-#", "live": 3, "exited": 1, "totals": {"cpu_run_ns": 2**53 - 1}},
    {"role": None, "live": 0, "exited": 0, "totals": {}},
)


def _header(seq: int, rows: int, **changes: object) -> FrameHeader:
    values = frame_header(seq=seq, time_ns=seq * 100_000_000, rows=rows).model_dump()
    return FrameHeader.model_validate(values | changes)


def _rows(
    tids: list[int],
    *,
    identity: bool = False,
    absent: bool = True,
    zeros: Sequence[str] = (),
    pids: list[int] | None = None,
) -> Rows:
    n = len(tids)
    base = np.arange(n, dtype=np.uint64) + np.uint64(1)
    columns = {
        # More than 32 bits, and the largest integer that a double holds exactly.
        "cpu_run_ns": base * np.uint64(10**10),
        "cpu_delay_ns": np.full(n, 2**53 - 1, dtype=np.uint64),
        "voluntary_switches": base,
        "disk_read_bytes": base * np.uint64(4096),
        "blkio_delay_ns": base * np.uint64(3),
    }
    columns |= {name: np.zeros(n, dtype=np.uint64) for name in zeros}
    missing = np.arange(n) % 2 == 0
    return Rows(
        tid=np.array(tids, dtype=np.uint32),
        columns=columns,
        absent={"blkio_delay_ns": missing} if absent else {},
        start_ns=np.arange(n, dtype=np.int64) * 10**9 - 5 * 10**9 if identity else None,
        name=[f"worker-{i}" for i in range(n)] if identity else None,
        pid=None if pids is None else np.array(pids, np.uint32),
    )


def _frames() -> dict[str, tuple[FrameHeader, Rows, Tables]]:
    """Each kind of frame, by name."""
    with_rows = {
        "key-with-tables": (_header(9, 2, kind="key"), _rows([10, 11], identity=True)),
        "delta-with-tables": (_header(10, 1), _rows([11])),
        "tables-alone": (_header(11, 0), _rows([])),
        "key-of-group": (
            _header(12, 3, kind="key", group=COUNTS),
            _rows([10, 20, 21], identity=True, pids=[10, 20, 20]),
        ),
        "delta-of-group": (
            _header(
                13, 1, group=COUNTS | {"missed": None, "check": CHECK}, events=list(IN_A_PROCESS)
            ),
            _rows([21]),
        ),
    }
    return {
        **{name: (header, rows, {}) for name, (header, rows) in _without_tables().items()},
        **{name: (_with(header), rows, TABLES) for name, (header, rows) in with_rows.items()},
    }


def _with(header: FrameHeader) -> FrameHeader:
    described, _ = encode_tables(TABLES, {"stays": 3})
    return header.model_copy(update={"tables": described})


def _without_tables() -> dict[str, tuple[FrameHeader, Rows]]:
    return {
        "key": (
            _header(1, 3, kind="key", baseline=True, roles=list(ROLES)),
            _rows([10, 11, 12], identity=True),
        ),
        "delta": (_header(2, 2), _rows([10, 12], absent=False)),
        # Columns that are 0 are not in their batches.
        "some-zeros": (
            _header(3, 3),
            _rows([10, 11, 12], absent=False, zeros=(FIELDS[0], FIELDS[4])),
        ),
        "all-zeros": (_header(4, 2), _rows([11, 12], absent=False, zeros=FIELDS)),
        "key-zeros": (
            _header(5, 2, kind="key"),
            _rows([10, 11], identity=True, absent=False, zeros=FIELDS[1:]),
        ),
        "coalesced": (_header(5, 1, first_seq=3, threads_born=4), _rows([10])),
        "empty": (_header(6, 0), _rows([])),
        "events": (_header(7, 1, events=list(ONE_OF_EACH)), _rows([4_000_000_000])),
        "many": (_header(8, 65, kind="key"), _rows(list(range(100, 165)), identity=True)),
    }


def _contents(encoder: RowEncoder) -> dict[str, dict[str, object]]:
    """Content of each frame, by name; its header lists the columns of its batch."""
    return {
        name: _content(split(_encode(encoder, *parts))[0], *parts[1:])
        for name, parts in _frames().items()
    }


def _encode(encoder: RowEncoder, header: FrameHeader, rows: Rows, tables: Tables) -> bytes:
    return join(header, encoder.encode(rows), encode_tables(tables)[1])


def _content(header: FrameHeader, rows: Rows, tables: Tables) -> dict[str, object]:
    columns: dict[str, list[int | None]] = {}
    for field, values in rows.columns.items():
        gone = rows.absent.get(field, np.zeros(len(values), dtype=np.bool_))
        pairs = zip(values.tolist(), gone.tolist(), strict=True)
        columns[field] = [None if missing else value for value, missing in pairs]
    return {
        "header": header.model_dump(mode="json"),
        "tid": rows.tid.tolist(),
        "columns": columns,
        "start_ns": None if rows.start_ns is None else rows.start_ns.tolist(),
        "names": None if rows.name is None else list(rows.name),
        "pid": None if rows.pid is None else rows.pid.tolist(),
        "tables": {
            name: {column: table[column].tolist() for column in table.dtype.names or ()}
            for name, table in tables.items()
        },
    }


@pytest.mark.parametrize("name", _frames())
def test_the_golden_frames_hold_what_they_are_said_to_hold(name: str) -> None:
    data = golden_frames()[name]
    header, rows = FrameDecoder(FIELDS).decode(data)
    assert _content(header, rows, decode_tables(*split(data))) == contents()[name]


def test_the_golden_frames_are_those_that_are_made_here() -> None:
    assert contents() == _contents(RowEncoder(FIELDS))


def test_the_golden_events_are_one_of_each_type() -> None:
    assert set(members("TargetEvent").values()) == {event["type"] for event in ONE_OF_EACH}


def _write() -> None:
    encoder = RowEncoder(FIELDS)
    frames = {name: _encode(encoder, *parts) for name, parts in _frames().items()}
    write_frames(frames, _contents(encoder))


if __name__ == "__main__":
    _write()
