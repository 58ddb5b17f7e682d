"""Sides of a comparison: matching, processes, pools and states."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from compared_runs import Instant, Life, manifest, tables, threads
from compared_runs import signals as signals_of
from group_story import FIELDS as STORY_FIELDS
from group_story import group_story
from run_folders import run_folder
from tidscope_backend.comparison.compare import compare
from tidscope_backend.comparison.from_folders import compare_folders
from tidscope_backend.comparison.metrics import STATES
from tidscope_backend.comparison.sides import (
    ComparisonError,
    Correction,
    PoolTotals,
    RunTables,
    Side,
    match_roles,
    parse_correction,
    pools_by_name,
    split_by_process,
)
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.state_groups import GROUPS, shares_of_groups
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import CompareBasis, ComparedMetric, Comparison, Group
from tidscope_wire.pools import BUCKETS, FIGURES, QUEUE_WAIT, RESPONSE
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

A, B = "r-a", "r-b"


def reported(corrections: list[Correction], *weights: dict[str, int]) -> list[tuple[object, ...]]:
    found = match_roles([A, B], list(weights), corrections)
    return [(role.label, role.roles, role.manual) for role in found]


def test_same_names_match_and_others_are_listed() -> None:
    assert reported([], {"main": 5, "old-#": 1}, {"main": 4, "new-#": 100}) == [
        ("new-#", [None, "new-#"], False),
        ("main", ["main", "main"], False),
        ("old-#", ["old-#", None], False),
    ]


def test_a_person_matches_what_has_two_names() -> None:
    correction = Correction(B, "wrk-#", "worker-#")
    assert reported([correction], {"worker-#": 5, "main": 1}, {"wrk-#": 6, "main": 1}) == [
        ("worker-#", ["worker-#", "wrk-#"], True),
        ("main", ["main", "main"], False),
    ]


def test_a_role_whose_label_is_given_away_stands_for_itself() -> None:
    correction = Correction(B, "x", "main")
    assert reported([correction], {"main": 5}, {"main": 1, "x": 3}) == [
        ("main", ["main", "x"], True),
        ("main (not matched)", [None, "main"], False),
    ]


def test_two_roles_can_be_exchanged() -> None:
    corrections = [Correction(B, "x", "y"), Correction(B, "y", "x")]
    assert reported(corrections, {"x": 2, "y": 1}, {"x": 1, "y": 1}) == [
        ("x", ["x", "y"], True),
        ("y", ["y", "x"], True),
    ]


@pytest.mark.parametrize(
    ("corrections", "why"),
    [
        ([Correction("r-c", "main", "x")], "r-c, which is not compared"),
        ([Correction(A, "nobody", "x")], "'nobody', which r-a does not have"),
        ([Correction(A, "main", "z"), Correction(A, "x", "z")], "two roles of r-a the label 'z'"),
    ],
)
def test_what_cannot_be(corrections: list[Correction], why: str) -> None:
    with pytest.raises(ComparisonError, match=why):
        reported(corrections, {"main": 1, "x": 1}, {"main": 1})


def test_reading_a_correction() -> None:
    assert parse_correction("r-1:a:b=c=new") == Correction("r-1", "a:b=c", "new")
    for wrong in ("", "r-1", "r-1:", "r-1:role", "r-1:=label", "r-1:role=", ":role=label"):
        with pytest.raises(ComparisonError, match="RUN:ROLE=LABEL"):
            parse_correction(wrong)


ZERO = (0, 0, 0)
GROUP = Group(
    kind="tree",
    value=None,
    name="make and its descendants",
    cgroup=None,
    discovery="ebpf",
    discovery_reason="",
)


def lives(roles: Sequence[str], pids: Sequence[int] | None = None) -> pa.Table:
    """Threads 100, 101 and so on."""
    made = threads([Life(role, ZERO, ZERO) for role in roles])
    return made if pids is None else made.append_column("pid", pa.array(pids, pa.uint32()))


def roles(table: pa.Table) -> list[str]:
    found: list[str] = table.column("role").to_pylist()
    return found


def test_processes_are_called_as_their_rows_say_and_else_as_their_main_threads() -> None:
    table = lives(["a", "b-#", "c", "b-#", "b-#"], [100, 100, 102, 102, 7])
    rows = pa.table({"pid": pa.array([100, 0], pa.uint32()), "name": ["postgres", "old"]})
    assert roles(split_by_process(table, rows, "lead")) == [
        "postgres → a",
        "postgres → b-#",
        "c → c",
        "c → b-#",
        "unknown → b-#",
    ]


def test_of_one_process_all_roles_are_its_own() -> None:
    assert roles(split_by_process(lives(["a", "b"]), None, "work")) == ["work → a", "work → b"]


def test_runs_of_groups_are_compared_by_process_and_role(tmp_path: Path) -> None:
    paths = []
    for name in ("r-20261121-120000-000001", "r-20261121-120000-000002"):
        folder = run_folder(tmp_path / name, [group_story(120)], STORY_FIELDS, 1)
        write_summaries(folder)
        made = folder.read_manifest()
        group = made.target.model_copy(update={"group": GROUP})
        folder.write_manifest(made.model_copy(update={"id": name, "target": group}))
        paths.append([Side(folder.path)])
    whole = compare_folders(paths)
    assert (whole.split, whole.several_processes) == ("none", True)
    split = compare_folders(paths, split="process")
    assert {role.label for role in split.roles} == {"make → make", "cc1 → cc1"}
    assert {role.label for role in whole.roles} == {"make", "cc1"}

    def cpu(found: Comparison, role: str) -> float | None:
        of_role = [one for one in found.metrics if one.role == role]
        (one,) = [one for one in of_role if one.metric == "cpu_run_ns"]
        return one.groups[0].mean

    assert cpu(split, "cc1 → cc1") == pytest.approx(cpu(whole, "cc1"))
    # Frames have the totals of roles over all processes.
    assert not [one for one in split.series if one.role is not None]


MS = 1_000_000


def pool_rows(*rows: dict[str, object]) -> pa.Table:
    """The table `pools` with figures that are known."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS["pools"]}
    for row in rows:
        known = sum(1 << FIGURES.index(name) for name in row if name in FIGURES)
        for name, kind in COLUMNS["pools"].items():
            columns[name].append(row.get(name, "" if kind == "utf8" else 0))
        columns["known"][-1] = known
    kinds = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
    return pa.table(
        {name: pa.array(columns[name], kinds[kind]) for name, kind in COLUMNS["pools"].items()}
    )


def time_rows(*rows: tuple[int, int, int, int]) -> pa.Table:
    names = dtype_of("pool_times").names
    assert names is not None
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def test_pools_of_one_name_are_added_up() -> None:
    found = pools_by_name(
        pool_rows(
            {"pool": 1, "pid": 10, "name": "requests", "size": 2, "finished": 3},
            {"pool": 2, "pid": 10, "name": "requests", "size": 4, "finished": 5},
            {"pool": 3, "pid": 20, "name": "requests", "size": 8, "finished": 7, "failed": 1},
            {"pool": 4, "pid": 20, "name": "disk"},
        ),
        time_rows((1, RESPONSE, 3, 2), (3, RESPONSE, 3, 5), (4, QUEUE_WAIT, 40, 1), (9, 0, 0, 1)),
    )
    requests = found["requests"]
    # The first one of process 10 is not there any more.
    assert requests.size == 12
    assert requests.counted == {"finished": 15, "failed": 1}
    assert requests.times[RESPONSE][3] == 7
    assert found["disk"].size is None
    assert found["disk"].times[QUEUE_WAIT][BUCKETS - 1] == 1


def run(number: int, finished: int, bucket: int = 14) -> RunTables:
    """Readings of ten seconds: each job takes 20 ms and waits 5 ms before its start."""
    totals = PoolTotals(size=4)
    totals.counted = {"finished": finished, "started": finished, "failed": 0}
    totals.counted |= {"response_ns": 20 * MS * finished, "queue_wait_ns": 5 * MS * finished}
    totals.times[RESPONSE][bucket] = finished
    return replace(tables(number), pools={"requests": totals})


def rows_of(
    groups: list[list[RunTables]], basis: CompareBasis = "rates"
) -> dict[str, ComparedMetric]:
    found = compare(groups, basis=basis)
    prefix = "pool:requests:"
    return {row.metric.removeprefix(prefix): row for row in found.metrics if prefix in row.metric}


def test_throughput_and_times_are_compared_with_intervals() -> None:
    rows = rows_of(
        [[run(1, 1000), run(2, 1010), run(3, 990)], [run(4, 2000), run(5, 2020), run(6, 1980)]]
    )
    throughput = rows["finished"]
    assert [group.mean for group in throughput.groups] == [100, 200]
    (faster,) = throughput.differences
    assert (faster.verdict, faster.method) == ("better", "welch")
    assert rows["response"].groups[0].mean == pytest.approx(0.02)
    assert rows["ait"].groups[0].mean == pytest.approx(0.005)
    # From 8.4 to 16.8 ms: spread evenly over the logarithm.
    assert rows["response_p50"].groups[0].mean == pytest.approx(2**23.5 / 1e9)
    assert rows["size"].groups[1].mean == 4
    # Figures that are 0 in all runs or unknown have no row.
    assert not {"failed", "run", "wait_p95"} & rows.keys()


def test_quantiles_of_one_bucket_get_no_verdict() -> None:
    first = [run(1, 1000), run(2, 1000)]
    near = rows_of([first, [run(3, 1010), run(4, 1010)]])["response_p95"].differences[0]
    far = rows_of([first, [run(3, 1000, 16), run(4, 1000, 16)]])["response_p95"].differences[0]
    assert near.verdict in ("unclear", "equal")
    assert far.verdict == "worse"


def test_totals_and_runs_without_pools() -> None:
    rows = rows_of([[run(1, 1000)], [tables(2)]], "totals")
    assert rows["finished"].unit == "count"
    assert [group.mean for group in rows["finished"].groups] == [1000, None]
    assert rows["finished"].differences[0].verdict == "unknown"
    assert not any("pool:" in one.metric for one in compare([[tables(1)], [tables(2)]]).metrics)


FIELDS = ("cpu_run_ns", *STATE_FIELDS, STATE, SINCE)


def counters(**states_ms: int) -> list[int | None]:
    values: dict[str, int | None] = dict.fromkeys(FIELDS, 0)
    values |= {f"state_{name}_ns": ms * MS for name, ms in states_ms.items()}
    return [values[name] for name in FIELDS]


def state_run(number: int, lives: list[Life], fields: tuple[str, ...] = FIELDS) -> RunTables:
    return RunTables(manifest(number), threads(lives, fields), signals_of([], fields), [])


def ledger(number: int, futex_ms: int) -> RunTables:
    """Ten seconds: main polls, workers run and wait for locks."""
    worker = Life(
        "worker-#",
        counters(on_cpu=100, futex=100, preempted=300),
        counters(on_cpu=100 + 9000 - futex_ms, futex=100 + futex_ms, preempted=1300),
    )
    main = Life("main", counters(poll=5), counters(poll=10_005))
    return state_run(number, [main, worker, worker])


def row(found: Comparison, metric: str, role: str | None = None) -> ComparedMetric:
    (one,) = [one for one in found.metrics if (one.metric, one.role) == (metric, role)]
    return one


def test_shares_are_of_the_time_that_threads_lived() -> None:
    found = compare([[ledger(1, 3000)], [ledger(2, 6000)]])
    locks = row(found, "share_locks", "worker-#")
    assert [group.values for group in locks.groups] == [[pytest.approx(0.3)], [pytest.approx(0.6)]]
    assert (locks.unit, locks.label) == ("share", "Share of time: Locks")
    assert locks.differences[0].verdict == "more"
    assert locks.differences[0].percent == pytest.approx(100)
    of_process = row(found, "share_locks")
    assert of_process.groups[0].values == [pytest.approx(0.2)]
    assert row(found, "share_polling").groups[0].values == [pytest.approx(1 / 3)]


def test_states_of_a_group_have_rows_of_their_own() -> None:
    found = compare([[ledger(1, 3000)], [ledger(2, 6000)]])
    assert row(found, "share_runnable", "worker-#").groups[0].values == [pytest.approx(0.1)]
    preempted = row(found, "share_state_preempted", "worker-#")
    assert preempted.label == "Share of time: Waiting for a CPU: Preempted"
    woken = next(metric for metric in STATES if metric.name == "share_state_woken")
    assert woken.label == "Share of time: Waiting for a CPU: after wake-up"
    assert preempted.groups[0].values == [pytest.approx(0.1)]
    shown = {one.metric for one in found.metrics if one.role == "worker-#"}
    # States that are 0 in all runs have no row, nor has the only state of a group.
    assert not shown & {"share_state_woken", "share_disk", "share_state_futex"}


def test_repeats_have_intervals() -> None:
    found = compare(
        [[ledger(1, 3000), ledger(2, 3100)], [ledger(3, 6000), ledger(4, 6100), ledger(5, 6050)]]
    )
    locks = row(found, "share_locks", "worker-#")
    low, high = locks.groups[0].low, locks.groups[0].high
    assert low is not None
    assert high is not None
    assert low < 0.305 < high
    assert locks.differences[0].method == "welch"
    assert locks.differences[0].verdict == "more"


def test_roles_and_the_process_add_up_to_all_of_the_time() -> None:
    found = compare([[ledger(1, 3000)], [ledger(2, 6000)]])
    names = {f"share_{group.id}" for group in GROUPS}
    for role in (None, "main", "worker-#"):
        shares = [
            one.groups[1].values[0]
            for one in found.metrics
            if one.role == role and one.metric in names
        ]
        assert sum(share or 0 for share in shares) == pytest.approx(1)


def test_a_run_without_a_ledger_has_no_such_figures() -> None:
    bare = state_run(2, [Life("main", [0], [10])], ("cpu_run_ns",))
    both = compare([[bare], [state_run(3, [Life("main", [0], [10])], ("cpu_run_ns",))]])
    assert not [one for one in both.metrics if one.unit == "share"]
    found = compare([[ledger(1, 3000)], [bare]])
    locks = row(found, "share_locks")
    assert locks.groups[1].values == [None]
    assert locks.differences[0].verdict == "unknown"


def test_time_that_falls_a_little_is_no_reset() -> None:
    # A round that is settled takes microseconds back.
    life = Life("main", counters(futex=100, poll=5), counters(futex=99, poll=1005))
    found = compare([[state_run(1, [life])], [state_run(2, [life])]])
    assert row(found, "share_polling").groups[0].values == [1.0]


def test_each_state_is_in_one_group() -> None:
    fields = [field for group in GROUPS for field in group.fields]
    assert sorted(fields) == sorted(STATE_FIELDS)


def test_groups_come_by_their_share() -> None:
    totals = {"state_futex_ns": 30, "state_preempted_ns": 20, "state_woken_ns": 50, "other": 9}
    assert [(group.id, share) for group, share in shares_of_groups(totals).items()] == [
        ("runnable", 0.7),
        ("locks", 0.3),
    ]
    assert shares_of_groups({"cpu_run_ns": 5}) == {}


def curves(number: int, instants: list[Instant]) -> RunTables:
    lives = [Life("main", counters(), counters(poll=4000))]
    return RunTables(manifest(number), threads(lives, FIELDS), signals_of(instants, FIELDS), [])


def test_time_in_states_has_curves_of_process_and_roles() -> None:
    instants = [
        Instant(
            5 + second,
            {
                "main": counters(poll=1000 * second),
                "worker-#": counters(
                    futex=500 + 300 * second, preempted=100 * second, woken=second
                ),
            },
        )
        for second in range(4)
    ]
    found = compare([[curves(1, instants)], [curves(2, [])]])
    named = {(one.metric, one.role): one for one in found.series}
    locks = named["time_locks", None]
    assert locks.time_s == [0, 1, 2, 3]
    # From the run's start on.
    assert locks.value == [0, 300 * MS, 600 * MS, 900 * MS]
    # Sums of the states of a group; groups that are 0 in all runs have no curve.
    assert named["time_runnable", None].value[-1] == 303 * MS
    assert named["time_polling", "main"].value == [0, 1000 * MS, 2000 * MS, 3000 * MS]
    assert ("time_locks", "main") not in named
    assert not {one.metric for one in found.series} & {"time_disk", "state_futex_ns"}


def test_curves_of_states_do_not_fall() -> None:
    fell = [Instant(5 + i, {"main": counters(on_cpu=ms)}) for i, ms in enumerate([0, 20, 19, 30])]
    found = compare([[curves(1, fell)], [curves(2, [])]])
    (running,) = [one for one in found.series if (one.metric, one.role) == ("time_running", None)]
    assert running.value == [0, 20 * MS, 20 * MS, 30 * MS]
