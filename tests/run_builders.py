"""Makers of what is said of runs."""

from backend_builders import TARGET_ID, host, target
from pydantic import BaseModel
from tidscope_backend.store.index import summary_of
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    DamagedRun,
    Gap,
    Recording,
    RecordRequest,
    Retention,
    RingCut,
    RingResponse,
    RingTrack,
    RunCounts,
    RunEvent,
    RunEventsResponse,
    RunLosses,
    RunManifest,
    RunMark,
    RunOutcome,
    RunPatch,
    RunPolicy,
    RunResult,
    RunsResponse,
)

RUN_ID = "r-20261121-130500-1f2e3d"


def losses(**changes: int) -> RunLosses:
    """Nothing is missing."""
    defaults = RunLosses(
        frames=0,
        gaps=0,
        missing_ns=0,
        truncated_bytes=0,
        coalesced=0,
        deadlines_missed=0,
        samples_failed=0,
        exit_records_lost=0,
        clock_jumps=0,
    )
    return defaults.model_copy(update=changes)


def outcome(**changes: object) -> RunOutcome:
    """A command that ended well."""
    defaults = RunOutcome(
        command=["work", "--hard"],
        exit_code=0,
        signal=None,
        elapsed_us=1,
        user_cpu_us=2,
        system_cpu_us=3,
        max_rss_bytes=4,
        major_faults=5,
        minor_faults=6,
        voluntary_switches=7,
        involuntary_switches=8,
        output_bytes=9,
        output_tail="done\n",
    )
    return defaults.model_copy(update=changes)


def manifest(**changes: object) -> RunManifest:
    """A run of a second that was stopped."""
    defaults = RunManifest(
        format=1,
        id=RUN_ID,
        name="work",
        tags=["a"],
        group=None,
        notes="",
        state="complete",
        end="stopped",
        end_detail="It was stopped.",
        created_unix_us=1_700_000_000_000_000,
        started_unix_us=1_700_000_000_000_000,
        from_ns=0,
        to_ns=1_000_000_000,
        until_ns=None,
        tidscope="0.1.0",
        host=host(),
        target=target(),
        fields=CATALOGUE.fields,
        policies=[
            RunPolicy(
                time_ns=0,
                policy="fixed",
                shadow=False,
                knob="pool-agent",
                signal="queue-wait",
                lower=1,
                upper=2,
            )
        ],
        marks=[RunMark(time_ns=5, text="here")],
        losses=losses(),
        counts=RunCounts(frames=1, thread_samples=2, threads=2, events=0, bytes=100, open_bytes=0),
        outcome=None,
        imported=False,
    )
    return defaults.model_copy(update=changes)


def run_messages() -> list[BaseModel]:
    """One of each message about runs, comparisons left out."""
    done = manifest(outcome=outcome())
    event = RunEvent(seq=1, time_ns=0, unix_us=1, event=Gap(from_seq=1, to_seq=2, reason="r"))
    damaged = DamagedRun(folder="notes", reason="its name is not that of a run")
    retention = Retention(max_age_s=86400, max_bytes=None)
    return [
        done,
        done.losses,
        done.counts,
        outcome(),
        *done.policies,
        *done.marks,
        event,
        RunEventsResponse(events=[event], omitted=1),
        summary_of(done),
        damaged,
        retention,
        RunsResponse(
            runs=[summary_of(done)],
            deleted=[],
            damaged=[damaged],
            bytes=100,
            free_bytes=1,
            retention=retention,
        ),
        RingResponse(
            on=True,
            max_age_s=3600,
            max_bytes=1 << 29,
            bytes=100,
            lost=0,
            disk_full=False,
            tracks=[
                RingTrack(
                    id=RUN_ID,
                    target=target(),
                    host_name="box",
                    from_unix_us=1,
                    to_unix_us=2,
                    bytes=100,
                )
            ],
        ),
        RingCut(track=RUN_ID, from_unix_us=1, to_unix_us=2, name="a"),
        Recording(run=RUN_ID, target=TARGET_ID, name="work", created_unix_us=1),
        RecordRequest(
            target=TARGET_ID,
            name="n",
            tags=["a"],
            group=None,
            notes="",
            past_s=5,
            duration_s=None,
        ),
        RunPatch(
            name="n",
            tags=[],
            group=None,
            notes="",
            marks=done.marks,
            outcome=outcome(),
            results=[RunResult(name="ops", value=1, better="more")],
        ),
    ]
