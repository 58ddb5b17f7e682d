"""Folders of runs that were never recorded, for tests that read."""

from collections.abc import Sequence
from pathlib import Path

from tidscope_backend.runs.closing import close_part
from tidscope_backend.runs.folder import RunFolder
from tidscope_backend.runs.live_part import packed
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    CollectorInfo,
    EnergySource,
    Host,
    Process,
    RunCounts,
    RunLosses,
    RunManifest,
    Source,
    Target,
)

RUN = "r-20261121-130500-0a1b2c"


def manifest(fields: Sequence[str], frames: Sequence[bytes], run: str = RUN) -> RunManifest:
    """What would stand in manifest.json."""
    headers = [split(frame)[0] for frame in frames]
    return RunManifest(
        format=1,
        id=run,
        name="a run",
        tags=[],
        group=None,
        notes="",
        state="complete",
        end="stopped",
        end_detail="",
        created_unix_us=headers[0].unix_us,
        started_unix_us=headers[0].unix_us,
        from_ns=headers[0].time_ns,
        to_ns=headers[-1].time_ns,
        tidscope="0",
        host=_host(),
        target=_target(headers[0].target, fields),
        fields=[],
        policies=[],
        marks=[],
        losses=RunLosses(
            frames=0,
            gaps=0,
            missing_ns=0,
            cut_bytes=0,
            coalesced=0,
            deadlines_missed=0,
            samples_failed=0,
            exits_lost=0,
            clock_jumps=0,
        ),
        counts=RunCounts(instants=len(frames), thread_samples=0, threads=0, events=0, bytes=0),
        outcome=None,
        imported=False,
    )


def run_folder(
    path: Path, parts: Sequence[Sequence[bytes]], fields: Sequence[str], closed: int
) -> RunFolder:
    """Write a run.

    Args:
        path: a folder that is not there yet.
        parts: frames of each part.
        fields: of the target.
        closed: so many of the parts are closed.
    """
    folder = RunFolder(path)
    folder.make()
    folder.write_manifest(manifest(fields, [frame for part in parts for frame in part]))
    for number, frames in enumerate(parts, 1):
        folder.live(number).write_bytes(b"".join(map(packed, frames)))
    for number in range(1, closed + 1):
        close_part(folder, number)
    return folder


def _host() -> Host:
    return Host(
        id="h-0123456789ab",
        name="machine",
        kernel="6.12.0",
        cpus=2,
        cpu_model="a CPU",
        memory_bytes=1 << 30,
        connected=True,
        collector=CollectorInfo(
            pid=1,
            version="0",
            privileged=True,
            source="taskstats",
            reason="it is there",
            max_targets=32,
        ),
    )


def _target(target: str, fields: Sequence[str]) -> Target:
    return Target(
        id=target,
        host="h-0123456789ab",
        process=Process(
            pid=100,
            start_ticks=1,
            started_unix_ms=0,
            name="prog",
            command="prog --fast",
            executable="/usr/bin/prog",
            uid=0,
            user="root",
            threads=3,
            cpu_percent=None,
            rss_bytes=None,
            runtime="native",
            runtime_version=None,
            ports=[],
            refusal=None,
        ),
        state="attached",
        rate_hz=10,
        attached_unix_us=0,
        source=Source(
            kind="taskstats",
            taskstats_version=16,
            layout="v16",
            reply_bytes=600,
            reason="it is there",
            exits=True,
            exits_reason="they are received",
            network="none: not asked for",
        ),
        energy=EnergySource(domains=[], reason="none"),
        fields=list(fields),
        absent=[],
        gomaxprocs=None,
        gomaxprocs_reason="not Go",
        steering=None,
    )
