"""The store of runs, and reports about one."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from backend_builders import stream
from run_builders import manifest, outcome
from run_harness import RunHarness
from tidscope_backend.cli.run_report import (
    RoleReport,
    RunFacts,
    Taker,
    Waker,
    fact_lines,
    state_lines,
)
from tidscope_backend.store.directory import ManifestWriter, RunsDirectory, purge_trash
from tidscope_backend.store.index import RetentionCandidate, runs_to_delete, summary_of
from tidscope_backend.store.run_store import RunStore
from tidscope_wire.generated.models import Retention
from tidscope_wire.problems import ProblemError

OFF = Retention(max_age_s=None, max_bytes=None)
OLD = RetentionCandidate("old", 1000, 30, recording=False)
NEW = RetentionCandidate("new", 2000, 20, recording=False)
NOW = RetentionCandidate("now", 1, 50, recording=True)
ALL = (NEW, NOW, OLD)


def kept(*, seconds: float | None = None, size: int | None = None) -> list[str]:
    return runs_to_delete(ALL, Retention(max_age_s=seconds, max_bytes=size), 2500)


def test_retention_is_off() -> None:
    assert kept() == []


def test_by_age() -> None:
    assert kept(seconds=1500) == []
    assert kept(seconds=1499) == ["old"]
    assert kept(seconds=499) == ["old", "new"]
    # Active recordings stay, whatever their age.
    assert kept(seconds=0) == ["old", "new"]


def test_by_size_the_oldest_first() -> None:
    assert kept(size=100) == []
    assert kept(size=99) == ["old"]
    assert kept(size=70) == ["old"]
    assert kept(size=69) == ["old", "new"]
    assert kept(size=0) == ["old", "new"]


def test_both() -> None:
    assert kept(seconds=1499, size=60) == ["old", "new"]


@asynccontextmanager
async def run_store(
    home: Path, retention: Retention = OFF
) -> AsyncIterator[tuple[RunHarness, RunStore]]:
    harness = RunHarness(home)
    await harness.start()
    await harness.written(*stream(1, 30))
    yield (
        harness,
        RunStore(
            RunsDirectory(home),
            harness.recorder,
            ManifestWriter(harness.disk),
            retention,
            harness.disk,
        ),
    )
    await harness.stop()


async def keep(harness: RunHarness) -> str:
    return (await harness.begin(past_s=10, duration_s=0)).id


async def test_a_deleted_run_goes_after_an_hour(tmp_path: Path) -> None:
    async with run_store(tmp_path) as (harness, runs):
        first, second = await keep(harness), await keep(harness)
        await runs.delete(first)
        await runs.delete(second)
        folder = tmp_path / ".deleted" / first
        deleted_s = folder.stat().st_mtime
        os.utime(folder, (deleted_s, deleted_s - 3601))
        await runs.clean_up()
        assert not folder.exists()
        assert [one.id for one in (await runs.runs()).deleted] == [second]
        with pytest.raises(ProblemError):
            await runs.restore(first)
        assert (await runs.restore(second)).id == second


async def test_it_can_be_restored_for_an_hour(tmp_path: Path) -> None:
    async with run_store(tmp_path) as (harness, runs):
        run = await keep(harness)
        await runs.delete(run)
        when = (tmp_path / ".deleted" / run).stat().st_mtime
        assert purge_trash(RunsDirectory(tmp_path), when + 3599) == []
        assert purge_trash(RunsDirectory(tmp_path), when + 3601) == [tmp_path / ".deleted" / run]


async def test_old_runs_go_and_can_be_restored(tmp_path: Path) -> None:
    # The frames of the tests are of 2023.
    async with run_store(tmp_path, Retention(max_age_s=86400, max_bytes=None)) as (harness, runs):
        kept_run, active = await keep(harness), (await harness.begin()).id
        await runs.clean_up()
        listed = await runs.runs()
        assert [one.id for one in listed.runs] == [active]
        assert [one.id for one in listed.deleted] == [kept_run]
        assert listed.retention.max_age_s == 86400


async def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    async with run_store(tmp_path) as (harness, runs):
        run = await keep(harness)
        await harness.sealer.idle()
        await harness.recorder.wait_saved()
        listed = await runs.runs()
        files = [path for path in (tmp_path / run).rglob("*") if path.is_file()]
        sizes = sum(path.stat().st_size for path in files)
        # The manifest holds the number, so it may be some digits longer than it says.
        assert abs(listed.bytes - sizes) < 16
        assert listed.free_bytes > 0


async def test_the_newest_first(tmp_path: Path) -> None:
    async with run_store(tmp_path) as (harness, runs):
        made = [await keep(harness) for _ in range(3)]
        assert [one.id for one in (await runs.runs()).runs] == made[::-1]
        await harness.sealer.idle()
        (tmp_path / made[1] / "manifest.json").write_text("")
        listed = await runs.runs()
        assert [one.id for one in listed.runs] == [made[2], made[0]]
        assert [one.folder for one in listed.damaged] == [made[1]]


async def test_a_damaged_run_may_go(tmp_path: Path) -> None:
    async with run_store(tmp_path) as (harness, runs):
        run = await keep(harness)
        await harness.sealer.idle()
        (tmp_path / run / "manifest.json").unlink()
        await runs.delete(run)
        assert (tmp_path / ".deleted" / run).is_dir()


async def test_sizes_are_those_of_the_files_and_tell_what_is_not_sealed(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path, seals=True)
    await harness.start()
    await harness.written(*stream(1, 60))
    run = (await harness.begin()).id
    await harness.written(*stream(61, 300))
    folder, manifest_of = harness.folder(run), harness.recorder.current_manifest
    counts = manifest_of(folder, harness.manifest(run)).counts
    frames = folder.open_part(1).stat().st_size
    assert counts.open_bytes == frames
    # The space reserved while recording is not part of the run.
    assert counts.bytes == frames + folder.manifest.stat().st_size
    await harness.recorder.stop(run)
    await harness.sealer.idle()
    sealed = harness.manifest(run).counts
    assert sealed.open_bytes == 0
    assert sealed.bytes < frames / 4
    assert abs(sealed.bytes - folder.bytes()) < 16, "but for the digits of its own size"
    await harness.stop()


def test_the_list_tells_a_failed_command_from_one_that_succeeded() -> None:
    of_a_target = summary_of(manifest(outcome=None))
    failed = summary_of(manifest(outcome=outcome(exit_code=3)))
    killed = summary_of(manifest(outcome=outcome(exit_code=None, signal="SIGKILL")))
    assert (of_a_target.exit_code, of_a_target.signal) == (None, None)
    assert (failed.exit_code, failed.signal) == (3, None)
    assert (killed.exit_code, killed.signal) == (None, "SIGKILL")


def test_each_is_a_line() -> None:
    facts = RunFacts(
        [Waker("own threads", 7, 20, 3_000_000, 40_000)],
        [Taker("make", 9, 2_000_000)],
    )
    assert list(fact_lines(facts)) == [
        "",
        "WOKEN BY",
        "         20  own threads (7), after 3.0 ms; ran 40 µs later",
        "",
        "RAN DURING RUN-QUEUE DELAY",
        "     2.0 ms  make (9)",
    ]


def test_nothing_is_said_of_nothing() -> None:
    assert list(fact_lines(RunFacts([], []))) == []


SECOND = 1_000_000_000


def test_shares_are_of_the_time_of_all_threads_of_a_role() -> None:
    pool = RoleReport(
        "pool-#", 3, {"state_futex_ns": 2 * SECOND, "state_on_cpu_ns": SECOND, "cpu_run_ns": SECOND}
    )
    main = RoleReport("main", 1, {"state_sleep_ns": 5 * SECOND, "state_on_cpu_ns": 1000})
    silent = RoleReport("old", 1, {"cpu_run_ns": SECOND})
    totals = {
        "state_futex_ns": 2 * SECOND,
        "state_on_cpu_ns": SECOND,
        "state_sleep_ns": 5 * SECOND,
    }
    assert list(state_lines(totals, [pool, silent, main])) == [
        "",
        "WHERE THE TIME WENT, of all threads together and by role",
        "  all: 8.00 s: 62.5% Sleeping, 25.0% Waiting for locks, 12.5% Running",
        "  main (1 thread): 5.00 s: 100.0% Sleeping",
        "  pool-# (3 threads): 3.00 s: 66.7% Waiting for locks, 33.3% Running",
    ]


def test_without_a_ledger_nothing_is_said() -> None:
    assert list(state_lines({"cpu_run_ns": SECOND}, [])) == []
