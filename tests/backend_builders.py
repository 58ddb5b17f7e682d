"""Makers of hosts, processes, targets and frames for the backend's tests."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from builders import frame_header
from tidscope_backend import VERSION
from tidscope_backend.stream.frames import StoredFrame, parse_frame
from tidscope_wire.frame import FrameDecoder, RowEncoder, Rows, join
from tidscope_wire.frame_tables import Tables
from tidscope_wire.generated.models import (
    Actor,
    CollectorInfo,
    CoreDivision,
    EnergySource,
    GroupCounts,
    Host,
    Problem,
    Process,
    Source,
    Steering,
    Target,
    TargetEvent,
    TargetState,
)
from tidscope_wire.table_streams import encode_tables

HOST_ID = "h-0123456789ab"
TARGET_ID = "t-100-deadbeef"
FIELDS = ("cpu_run_ns", "blkio_delay_ns")
ACTOR = Actor(session="s-1", role="operator", label="a test")


def host(host_id: str = HOST_ID, name: str = "box") -> Host:
    """A host with a privileged collector."""
    return Host(
        id=host_id,
        name=name,
        kernel="6.18.0",
        cpus=2,
        cpu_model="test",
        memory_bytes=1 << 34,
        connected=True,
        collector=CollectorInfo(
            pid=1,
            version=VERSION,
            privileged=True,
            source="taskstats",
            reason="CAP_NET_ADMIN is there",
            max_targets=8,
        ),
    )


def process(pid: int = 100, refusal: Problem | None = None) -> Process:
    """A process with two threads."""
    return Process(
        pid=pid,
        start_ticks=1000,
        started_unix_ms=1_700_000_000_000,
        name="work",
        command="work --hard",
        executable="/usr/bin/work",
        uid=0,
        user="root",
        threads=2,
        cpu_percent=None,
        rss_bytes=None,
        runtime="native",
        runtime_version=None,
        ports=[],
        refusal=refusal,
    )


def target(
    target_id: str = TARGET_ID,
    *,
    host_id: str = HOST_ID,
    state: TargetState = "attached",
    rate_hz: float = 10,
    attached_unix_us: int = 1_700_000_000_000_000,
) -> Target:
    """A target sampled from taskstats."""
    return Target(
        id=target_id,
        host=host_id,
        process=process(),
        state=state,
        rate_hz=rate_hz,
        attached_unix_us=attached_unix_us,
        source=Source(
            kind="taskstats",
            taskstats_version=16,
            layout="v16",
            reply_bytes=560,
            reason="test",
            exits=True,
            exits_reason="test",
            network="none: test",
        ),
        energy=EnergySource(domains=[], reason="there is no RAPL"),
        fields=list(FIELDS),
        absent=[],
        gomaxprocs=None,
        steering=None,
        gomaxprocs_reason="not a Go program",
    )


def frame_bytes(
    seq: int,
    rows: Mapping[int, Sequence[int | None]] | None = None,
    *,
    target_id: str = TARGET_ID,
    first_seq: int | None = None,
    identity: Mapping[int, tuple[int, str]] | None = None,
    events: Sequence[TargetEvent] = (),
    time_ns: int | None = None,
    fields: Sequence[str] = FIELDS,
    baseline: bool = False,
    tables: Tables | None = None,
    pids: Mapping[int, int] | None = None,
    group: GroupCounts | None = None,
) -> bytes:
    """A frame; a key frame if identities (start, name) are given.

    Args:
        seq: number.
        rows: tid to the values of the fields; None is an absent one.
        target_id: target of the frame.
        first_seq: first frame it stands for.
        identity: tid to start and name, of each row.
        events: in the header.
        time_ns: since attach; a tenth of a second a frame if not given.
        fields: names of the columns.
        baseline: in the header.
        tables: behind the rows.
        pids: tid to its process, of each row; of key frames of groups.
        group: in the header.
    """
    rows = {1: [seq * 100] * len(fields)} if rows is None else rows
    columns = {}
    absent = {}
    for place, field in enumerate(fields):
        values = [row[place] for row in rows.values()]
        columns[field] = np.array([value or 0 for value in values], np.uint64)
        if None in values:
            absent[field] = np.array([value is None for value in values])
    kind: Literal["key", "delta"] = "delta" if identity is None else "key"
    header = frame_header(
        target=target_id,
        seq=seq,
        first_seq=first_seq,
        kind=kind,
        time_ns=seq * 100_000_000 if time_ns is None else time_ns,
        events=events,
        baseline=baseline,
        rows=len(rows),
    )
    header = header.model_copy(update={"group": group})
    body = RowEncoder(fields).encode(
        Rows(
            tid=np.array(list(rows), np.uint32),
            columns=columns,
            absent=absent,
            start_ns=None
            if identity is None
            else np.array([identity[tid][0] for tid in rows], np.int64),
            name=None if identity is None else [identity[tid][1] for tid in rows],
            pid=None if pids is None else np.array([pids[tid] for tid in rows], np.uint32),
        )
    )
    if not tables:
        return join(header, body)
    described, data = encode_tables(tables)
    return join(header.model_copy(update={"tables": described}), body, data)


def stored(data: bytes, fields: Sequence[str] = FIELDS) -> StoredFrame:
    """A frame as the backend keeps it, behind a key frame with these columns."""
    return parse_frame(data, tuple(fields))


def rows_of(data: bytes, fields: Sequence[str] = FIELDS) -> Rows:
    """The rows of a frame, behind a key frame with these columns."""
    return FrameDecoder(tuple(fields)).decode(data)[1]


def key_frame(
    seq: int,
    *,
    target_id: str = TARGET_ID,
    time_ns: int | None = None,
    baseline: bool = False,
) -> bytes:
    """A key frame of one thread."""
    return frame_bytes(
        seq,
        {1: [seq * 100, None]},
        identity={1: (-5, "main")},
        target_id=target_id,
        time_ns=time_ns,
        baseline=baseline,
    )


def stream(
    first: int,
    last: int,
    *,
    key_every: int = 10,
    target_id: str = TARGET_ID,
    baseline: bool = False,
) -> list[bytes]:
    """Frames first..last of a quiet target; key frames are 1, 1 + key_every, …."""
    return [
        key_frame(seq, target_id=target_id, baseline=baseline and seq == 1)
        if seq % key_every == 1 or key_every == 1
        else frame_bytes(seq, target_id=target_id)
        for seq in range(first, last + 1)
    ]


def division(**changes: object) -> CoreDivision:
    """Core division that an arbiter gives a program."""
    defaults = CoreDivision(
        share=2.0,
        floor=1,
        priority=0,
        cores=3,
        total=8,
        programs=2,
        state="settled",
        cause="estimate",
        reason="It is expected to be the best division.",
        changed_unix_us=1,
        more_percent=12.5,
        less_percent=20.0,
    )
    return defaults.model_copy(update=changes)


def steering(**changes: object) -> Steering:
    """A policy at work."""
    defaults = Steering(
        policy="fixed",
        parameters={"interval_s": 2},
        shadow=False,
        knob="pool-agent",
        signal="queue-wait",
        proxy=False,
        lower=1,
        upper=2,
        original=2,
        size=1,
        state="settled",
        reason="It keeps its size.",
        decisions=1,
        since_unix_us=1,
        problem=None,
    )
    return defaults.model_copy(update=changes)
