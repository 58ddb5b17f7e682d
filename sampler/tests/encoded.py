"""Property tests of encoded frames against pyarrow and tidscope_wire, for `with_python.rs`.

Usage: encoded.py PROGRAM, the example `encode`. With `speed` behind it: what frames cost.
"""

import json
import subprocess
import sys
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_wire import frame, frame_tables, table_streams
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import (
    CountersSourceChanged,
    DeadlinesMissed,
    ExitRecordsLost,
    GomaxprocsChanged,
    GroupCheck,
    GroupLimits,
    MachineCounters,
    ProcessGauges,
    ProgramExecuted,
    RateAdapted,
    RateChanged,
    SampleFailed,
    TargetDetached,
    TargetExited,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

U32, U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
FIGURE = st.one_of(st.just(0), st.integers(0, 9), U64)
SIGNED = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=16)
ID = st.integers(1, 2**31 - 1)
SOURCE = st.sampled_from(["genetlink", "walk", "procfs"])
# serde_json reads longer fractions with an error in the last bit.
HZ = st.integers(8, 800).map(lambda eighths: eighths / 8)
SHARE = st.integers(0, 2**40).map(lambda eighths: eighths / 8)

PROGRAM = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(**case: Any) -> Any:
    """Let the program encode a case."""
    assert PROGRAM.stdin is not None and PROGRAM.stdout is not None
    PROGRAM.stdin.write(json.dumps(case) + "\n")
    PROGRAM.stdin.flush()
    return json.loads(PROGRAM.stdout.readline())


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    count, width = draw(st.integers(0, 70)), draw(st.integers(0, 12))
    few = st.lists(st.integers(0, max(0, count - 1)), unique=True, max_size=count)
    masks = st.lists(st.integers(0, 2**width - 1), min_size=count, max_size=count)
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    kinds = [draw(st.sampled_from(["zeros", "some", "all"])) for _ in range(width)]
    high = {"zeros": 1, "some": 2, "all": 2**64 - 1}
    return {
        "fields": [f"field_{n}" for n in range(width)],
        "group": draw(st.booleans()),
        "tid": random.integers(0, 2**32, count).tolist(),
        "process": random.integers(0, 2**32, count).tolist(),
        "start_ns": random.integers(-(2**63), 2**63 - 1, count).tolist(),
        "names": [draw(TEXT) for _ in range(count)] if count < 8 else ["thread é"] * count,
        "counters": [random.integers(0, high[one], count, np.uint64).tolist() for one in kinds],
        "absent": [0] * count if draw(st.booleans()) else draw(masks),
        "chosen": sorted(draw(few)) if draw(st.booleans()) else list(range(count)),
    }


def wire_rows(case: dict[str, Any], *, key: bool) -> frame.Rows:
    chosen = np.array(case["chosen"], np.intp)
    masks = np.array(case["absent"], np.uint64)[chosen]
    absent = {
        field: (masks >> np.uint64(n) & np.uint64(1)).astype(bool)
        for n, field in enumerate(case["fields"])
    }
    return frame.Rows(
        np.array(case["tid"], np.uint32)[chosen],
        {
            field: np.array(values, np.uint64)[chosen]
            for field, values in zip(case["fields"], case["counters"], strict=True)
        },
        {field: mask for field, mask in absent.items() if mask.any()},
        np.array(case["start_ns"], np.int64)[chosen] if key else None,
        [case["names"][row] for row in case["chosen"]] if key else None,
        np.array(case["process"], np.uint32)[chosen] if key and case["group"] else None,
    )


def same(found: frame.Rows, expected: frame.Rows) -> None:
    assert found.tid.tolist() == expected.tid.tolist()
    assert list(found.columns) == list(expected.columns)
    for field, values in expected.columns.items():
        there = ~expected.absent.get(field, np.zeros(len(values), bool))
        assert found.columns[field][there].tolist() == values[there].tolist()
        mask = found.absent.get(field, np.zeros(len(values), bool))
        assert mask.tolist() == (~there).tolist(), field


@settings(max_examples=300, deadline=None, database=None)
@given(rows())
def deltas_are_the_bytes_of_tidscope_wire(case: dict[str, Any]) -> None:
    made = ask(kind="rows", key=False, **case)
    expected = wire_rows(case, key=False)
    encoded = frame.RowEncoder(case["fields"]).encode(expected)
    data = bytes.fromhex(made["bytes"])
    assert data == bytes(encoded.data)
    assert made["columns"] == (None if encoded.columns is None else list(encoded.columns))
    same(frame.decode_delta(data, tuple(case["fields"]), made["columns"]), expected)


@settings(max_examples=300, deadline=None, database=None)
@given(rows())
def key_frames_are_read_by_pyarrow(case: dict[str, Any]) -> None:
    made = ask(kind="rows", key=True, **case)
    expected = wire_rows(case, key=True)
    found = frame.decode_key(bytes.fromhex(made["bytes"]), case["fields"], made["columns"])
    same(found, expected)
    assert found.start_ns is not None and expected.start_ns is not None
    assert found.start_ns.tolist() == expected.start_ns.tolist()
    assert list(found.name or ()) == list(expected.name or ())
    assert (found.pid is None) == (expected.pid is None)
    if found.pid is not None and expected.pid is not None:
        assert found.pid.tolist() == expected.pid.tolist()
    encoded = frame.RowEncoder(case["fields"]).encode(expected)
    assert made["columns"] == (None if encoded.columns is None else list(encoded.columns))


VALUES = {"uint32": U32, "uint64": U64, "utf8": TEXT}


@st.composite
def tables(draw: st.DrawFn, least: int = 0) -> dict[str, Any]:
    name = draw(st.sampled_from(list(COLUMNS)))
    count = draw(st.integers(least, 9))
    columns = [
        {
            "name": column,
            "kind": kind,
            "values": draw(st.lists(VALUES[kind], min_size=count, max_size=count)),
        }
        for column, kind in COLUMNS[name].items()
    ]
    return {"name": name, "columns": columns}


@settings(max_examples=200, deadline=None, database=None)
@given(tables())
def tables_are_read_by_tidscope_wire(case: dict[str, Any]) -> None:
    made = ask(kind="table", **case)
    values = {column["name"]: column["values"] for column in case["columns"]}
    expected = frame_tables.make_table(case["name"], values)
    if not len(expected):
        assert made == {"bytes": "", "tables": 0}
        return
    data = bytes.fromhex(made["bytes"])
    assert not len(data) % 8
    found = table_streams.decode_table(case["name"], data)
    assert found.tolist() == expected.tolist()


PID = st.none() | ID
WIDTH = 3
FIELDS = [f"field_{n}" for n in range(WIDTH)]


@st.composite
def exits(draw: st.DrawFn) -> tuple[ThreadExited, dict[str, Any]]:
    values = [draw(st.integers(0, 2**50)) for _ in FIELDS]
    given_, inexact = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    named = [name for n, name in enumerate(FIELDS) if given_ >> n & 1]
    values = [value if given_ >> n & 1 else 0 for n, value in enumerate(values)]
    event = ThreadExited(
        tid=draw(ID),
        start_ns=draw(SIGNED),
        name=draw(TEXT),
        totals={name: values[FIELDS.index(name)] for name in named},
        exact=draw(st.booleans()),
        seen_alive=draw(st.booleans()),
        lifetime_ns=draw(st.none() | st.integers(0, 2**62)),
        pid=draw(PID),
        inexact=[name for n, name in enumerate(FIELDS) if inexact >> n & 1],
    )
    case = json.loads(event.model_dump_json())
    return event, case | {"totals": {"values": values, "given": given_}, "inexact": inexact}


def plain(event: Any) -> tuple[Any, dict[str, Any]]:
    return event, json.loads(event.model_dump_json())


COUNT = st.integers(1, 2**62)
EVENTS = st.one_of(
    exits(),
    *(
        one.map(plain)
        for one in (
            st.builds(ThreadBorn, tid=ID, start_ns=SIGNED, name=TEXT, pid=PID),
            st.builds(ThreadRenamed, tid=ID, name=TEXT, previous=TEXT, pid=PID),
            st.builds(TargetExited, exit_code=st.none() | st.integers(-(2**31), 2**31 - 1)),
            st.just(TargetDetached()),
            st.builds(RateChanged, rate_hz=HZ, previous_hz=HZ),
            st.builds(
                RateAdapted,
                rate_hz=HZ,
                previous_hz=HZ,
                requested_hz=HZ,
                overhead_percent=SHARE,
                budget_percent=SHARE,
                undelivered_bytes=st.none() | COUNT,
            ),
            st.builds(DeadlinesMissed, count=COUNT),
            st.builds(ExitRecordsLost, count=COUNT),
            st.builds(GomaxprocsChanged, size=COUNT, previous=COUNT, pid=PID),
            st.builds(
                ProgramExecuted,
                name=TEXT,
                executable=st.none() | TEXT,
                previous=st.none() | TEXT,
                pid=PID,
            ),
            st.builds(SampleFailed, reason=TEXT),
            st.builds(
                CountersSourceChanged,
                source=SOURCE,
                previous=SOURCE,
                reason=TEXT,
                disagreed=st.booleans(),
            ),
        )
    ),
)


@settings(max_examples=600, deadline=None, database=None)
@given(EVENTS)
def events_are_the_text_of_the_models(case: tuple[Any, dict[str, Any]]) -> None:
    event, given_ = case
    is_group = getattr(event, "pid", None) is not None
    text = ask(kind="event", fields=FIELDS, group=is_group, event=given_)
    assert text == event.model_dump_json()


HEALTH = {
    "sample_mean_us": 7,
    "effective_hz": 10.0,
    "requested_hz": 99.5,
    "cpu_percent": 0.25,
    "overhead_percent": None,
    "slowed_by_backlog": True,
    "counters_disagreement": 'thread 7: "x"',
}
GAUGES = ProcessGauges(
    gomaxprocs=4,
    gomaxprocs_missed=None,
    rss_bytes=1,
    cpu_ns=None,
    cpu_limit=1.5,
    limits=GroupLimits(
        memory_bytes=1 << 30,
        memory_hits=3,
        disk_bytes=None,
        disk_ios=None,
        reads_limited_us=None,
        writes_limited_us=None,
    ),
).model_dump_json()
MACHINE = MachineCounters(
    time_ns=5, cpu_busy_us=6, package_uj=None, domains_uj=[7, None], gaps=0
).model_dump_json()
CHECK = GroupCheck(
    cpu_by="cpu.stat",
    threads_cpu_ns=1,
    kernel_cpu_ns=2,
    io_by=None,
    threads_read_bytes=None,
    kernel_read_bytes=None,
    threads_write_bytes=None,
    kernel_write_bytes=None,
).model_dump_json()


@settings(max_examples=150, deadline=None, database=None)
@given(rows(), st.lists(EVENTS, max_size=5), st.sampled_from([0, 0, 0, 1100]), tables(least=1))
def frames_are_read_and_their_headers_are_the_text_of_the_model(
    case: dict[str, Any], events: list[Any], more: int, table: dict[str, Any]
) -> None:
    case["fields"] = FIELDS
    case["counters"] = [[n] * len(case["tid"]) for n in range(WIDTH)]
    case["absent"] = [mask % 8 for mask in case["absent"]]
    for event, given_ in events:
        if case["group"] and hasattr(event, "pid") and event.pid is None:
            event.pid = given_["pid"] = 9
        elif not case["group"] and hasattr(event, "pid"):
            event.pid = None
    one, spec = plain(TargetDetached())
    exits_ = [e for e, _ in events if isinstance(e, ThreadExited)]
    events = [*events, *[(e, s) for e, s in events if e in exits_] * more, (one, spec)]
    sent = [event for event, _ in events]
    gone = [event for event in sent if isinstance(event, ThreadExited)]
    sums = {name: sum(one.totals.get(name, 0) for one in gone) for name in FIELDS}
    exited = {
        "threads": len(gone),
        "inexact": sum(not one.exact for one in gone),
        "totals": {"values": list(sums.values()), "given": 7},
    }
    # Remaining threads: the live ones less those that readers saw alive and that ended.
    live = 5
    frames = ask(
        kind="frames",
        events=[spec for _, spec in events],
        table=table,
        exited=exited,
        live=live,
        check=CHECK,
        process_gauges=GAUGES,
        machine=MACHINE,
        health=HEALTH,
        **case,
    )
    decoder, seen, reported = frame.FrameDecoder(), list[Any](), 0
    for number, made in enumerate(frames, 1):
        data = bytes.fromhex(made["data"])
        header, behind = frame.split(data)
        (length,) = frame.LENGTH.unpack_from(data)
        assert data[4 : 4 + length].decode().rstrip() == header.model_dump_json()
        assert (header.seq, made["seq"], made["key"]) == (number, number, header.kind == "key")
        assert header.baseline == made["baseline"]
        found = decoder.decode_rows(header, behind)
        seen += header.events
        if number == 1:
            assert header.kind == "key" and header.baseline == bool(case["tid"])
            (given_table,) = table_streams.decode_tables(header, behind).values()
            assert len(given_table) == len(table["columns"][0]["values"])
            assert header.roles is not None and header.roles[0].role == "w#"
            everyone = case | {"chosen": list(range(len(case["tid"])))}
            same(found, wire_rows(everyone, key=True))
            continue
        reported += sum(isinstance(event, ThreadExited) for event in header.events)
        behind_it = [event for event in gone[reported:] if event.seen_alive]
        assert header.exited.threads == reported
        assert header.live_threads == live + len(behind_it)
        assert header.exited.totals["field_1"] == sum(
            event.totals.get("field_1", 0) for event in gone[:reported]
        )
        if number < len(frames):
            assert (header.rows, header.health.sample_us, header.time_ns) == (0, 0, 7)
            continue
        same(found, wire_rows(case, key=False))
        assert (header.process.cpu_ns, header.health.late_us) == (17, 5)
    assert seen == sent
    assert (len(frames) > 2) == (len(gone) > 1000)


def speed() -> None:
    """Print what frames cost."""
    fields = [f"field_{n}_total_ns" for n in range(30)]
    for count, times in ((30, 20_000), (1000, 2000), (5000, 400)):
        made = ask(
            kind="speed",
            fields=fields,
            rows=count,
            times=times,
            process_gauges=GAUGES,
            machine=MACHINE,
            health=HEALTH,
        )
        print(f"{count} rows: {made['ns'] / 1000:.1f} us, {made['bytes']} bytes")


if __name__ == "__main__":
    if "speed" in sys.argv:
        speed()
    else:
        deltas_are_the_bytes_of_tidscope_wire()
        key_frames_are_read_by_pyarrow()
        tables_are_read_by_tidscope_wire()
        events_are_the_text_of_the_models()
        frames_are_read_and_their_headers_are_the_text_of_the_model()
