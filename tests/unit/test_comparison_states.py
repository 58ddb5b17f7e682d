"""Comparisons of the time that threads spent in states."""

import pytest
from compared_runs import Instant, Life, manifest, threads
from compared_runs import signals as signals_of
from tidscope_backend.comparison.compare import compare
from tidscope_backend.comparison.metrics import STATES
from tidscope_backend.comparison.sides import RunTables
from tidscope_backend.state_groups import GROUPS, shares_of_groups
from tidscope_wire.generated.models import ComparedMetric, Comparison
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

FIELDS = ("cpu_run_ns", *STATE_FIELDS, STATE, SINCE)
MS = 1_000_000


def counters(**states_ms: int) -> list[int | None]:
    values: dict[str, int | None] = dict.fromkeys(FIELDS, 0)
    values |= {f"state_{name}_ns": ms * MS for name, ms in states_ms.items()}
    return [values[name] for name in FIELDS]


def run(number: int, lives: list[Life], fields: tuple[str, ...] = FIELDS) -> RunTables:
    return RunTables(manifest(number), threads(lives, fields), signals_of([], fields), [])


def ledger(number: int, futex_ms: int) -> RunTables:
    """Ten seconds: main polls, workers run and wait for locks."""
    worker = Life(
        "worker-#",
        counters(on_cpu=100, futex=100, preempted=300),
        counters(on_cpu=100 + 9000 - futex_ms, futex=100 + futex_ms, preempted=1300),
    )
    main = Life("main", counters(poll=5), counters(poll=10_005))
    return run(number, [main, worker, worker])


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
    # What is 0 in all runs has no row, nor has the only state of a group.
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
    bare = run(2, [Life("main", [0], [10])], ("cpu_run_ns",))
    both = compare([[bare], [run(3, [Life("main", [0], [10])], ("cpu_run_ns",))]])
    assert not [one for one in both.metrics if one.unit == "share"]
    found = compare([[ledger(1, 3000)], [bare]])
    locks = row(found, "share_locks")
    assert locks.groups[1].values == [None]
    assert locks.differences[0].verdict == "unknown"


def test_time_that_falls_a_little_is_no_reset() -> None:
    # A round that is settled takes microseconds back.
    life = Life("main", counters(futex=100, poll=5), counters(futex=99, poll=1005))
    found = compare([[run(1, [life])], [run(2, [life])]])
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
    # Its states together; what is 0 in all runs has no curve.
    assert named["time_runnable", None].value[-1] == 303 * MS
    assert named["time_polling", "main"].value == [0, 1000 * MS, 2000 * MS, 3000 * MS]
    assert ("time_locks", "main") not in named
    assert not {one.metric for one in found.series} & {"time_disk", "state_futex_ns"}


def test_curves_of_states_do_not_fall() -> None:
    fell = [Instant(5 + i, {"main": counters(on_cpu=ms)}) for i, ms in enumerate([0, 20, 19, 30])]
    found = compare([[curves(1, fell)], [curves(2, [])]])
    (running,) = [one for one in found.series if (one.metric, one.role) == ("time_running", None)]
    assert running.value == [0, 20 * MS, 20 * MS, 30 * MS]
