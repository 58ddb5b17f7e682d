"""Ledgers in frames: what programs of known waits did, as a reader of frames knows it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from installation import installation
from processes import status, wait_until
from programs.build import build_c
from programs.known_waits import SHORT_THREADS, KnownWaits
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.waits.states import State
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.generated.models import TargetDetached
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

pytestmark = [needs("root"), needs("btf")]

WAITS = {
    "futex": "state_futex_ns",
    "sleep": "state_sleep_ns",
    "pipe": "state_pipe_ns",
    "epoll": "state_poll_ns",
    "receive": "state_socket_receive_ns",
    "child": "state_child_ns",
}
RUNNABLE = (State.ON_CPU, State.WOKEN, State.PREEMPTED)
AWAKE = ("state_on_cpu_ns", "state_woken_ns", "state_preempted_ns")
ALIKE = 0.001
"""States add up to wall time but for so much."""
LATE_NS = 2_000_000
"""A ledger is read somewhat after the instant of its frame, and may be settled up to then."""
EXEC_C = Path(__file__).parents[1] / "programs" / "exec_elsewhere.c"


@pytest.fixture
def waits() -> Iterator[KnownWaits]:
    with KnownWaits() as program:
        yield program


def test_states_of_living_threads_add_up_to_wall_time(waits: KnownWaits) -> None:
    begun_ns = time.monotonic_ns()
    with FollowedTarget(waits.pid) as followed:
        attached_ns = time.monotonic_ns() - begun_ns
        assert followed.target.source.ledger
        assert followed.target.source.ledger_reason is None
        assert not {one.field for one in followed.target.absent} & set(STATE_FIELDS)
        first = followed.catch_up()
        before = {tid: followed.seen.states(tid) for tid in followed.seen.rows}
        assert before
        report = waits.wait()
        last = followed.catch_up()
        after = {tid: followed.seen.states(tid) for tid in followed.seen.rows}
    wall = last.time_ns - first.time_ns
    for tid, states in before.items():
        # A ledger begins after the attachment: loading and the first sample lie between.
        assert -LATE_NS <= first.time_ns - sum(states.values()) <= attached_ns
        # From frame to frame it is exact, but for what went on while a sample was taken.
        grown = sum(after[tid].values()) - sum(states.values())
        assert grown == pytest.approx(wall, rel=ALIKE, abs=LATE_NS)
    for one in report.threads:
        if one.name in WAITS:
            # The call is over once the thread has a CPU again.
            fields = (WAITS[one.name], *AWAKE)
            states = {name: after[one.tid][name] - before[one.tid][name] for name in fields}
            assert states[WAITS[one.name]] > 0
            assert sum(states.values()) > 0.99 * one.in_call_ns, one.name


def test_a_thread_that_sleeps_is_not_sent_again_and_its_stay_grows(waits: KnownWaits) -> None:
    with FollowedTarget(waits.pid) as followed:
        followed.catch_up()
        followed.until(
            lambda: all(row[STATE] not in RUNNABLE for row in followed.seen.rows.values())
        )
        rows = {tid: dict(row) for tid, row in followed.seen.rows.items()}
        before = {tid: sum(followed.seen.states(tid).values()) for tid in rows}
        first = followed.seen.header
        assert first is not None
        for _ in range(5):
            header = followed.next()
            assert header.kind == "key" or header.rows == 0
        for tid, row in rows.items():
            assert followed.seen.rows[tid] == row
            assert row[STATE] > 0
            grown = sum(followed.seen.states(tid).values()) - before[tid]
            assert grown == header.time_ns - first.time_ns


def test_threads_that_end_leave_their_states(waits: KnownWaits) -> None:
    """Also threads that live between two samples; births begin at zero."""
    with FollowedTarget(waits.pid, rate_hz=5) as followed:
        assert followed.target.source.exits
        followed.catch_up()
        waits.run_short_threads()
        followed.until(lambda: len(followed.seen.ended) >= SHORT_THREADS)
        last = followed.catch_up()
        ended = followed.seen.ended
        live = [followed.seen.states(tid) for tid in followed.seen.rows]
    assert len(ended) == SHORT_THREADS
    for event in ended:
        assert event.exact
        assert event.lifetime_ns is not None
        assert not event.totals.keys() & {STATE, SINCE}
        in_states = sum(event.totals[name] for name in STATE_FIELDS)
        # The kernel reports the lifetime before the last switch: a thread may be preempted there.
        awake = sum(event.totals[name] for name in AWAKE)
        assert event.lifetime_ns - LATE_NS <= in_states <= event.lifetime_ns + LATE_NS + awake
    for name in STATE_FIELDS:
        assert last.exited.totals[name] == sum(event.totals[name] for event in ended)
    assert live


def test_totals_by_role_have_the_stays_under_way(waits: KnownWaits) -> None:
    with FollowedTarget(waits.pid, rate_hz=5) as followed:
        waits.run_short_threads()
        followed.catch_up()
        while followed.next().roles is None:
            pass
        header = followed.seen.header
        assert header is not None
        assert header.roles is not None
        live = [followed.seen.states(tid) for tid in followed.seen.rows]
        for name in STATE_FIELDS:
            of_roles = sum(role.totals.get(name, 0) for role in header.roles)
            of_threads = sum(states[name] for states in live)
            assert of_roles == of_threads + header.exited.totals.get(name, 0)
        assert not {STATE, SINCE} & {name for role in header.roles for name in role.totals}


def test_every_attachment_begins_at_zero(waits: KnownWaits) -> None:
    with FollowedTarget(waits.pid) as followed:
        waits.wait()
        followed.catch_up()
        for _ in range(2):
            followed.detach()
            followed.attach()
            header = followed.seen.header
            assert header is not None
            for tid in followed.seen.rows:
                assert sum(followed.seen.states(tid).values()) <= header.time_ns + LATE_NS
    with FollowedTarget(waits.pid) as restarted:
        header = restarted.seen.header
        assert header is not None
        assert len(restarted.seen.rows) == len(waits.ready.threads) + 1
        for tid in restarted.seen.rows:
            assert sum(restarted.seen.states(tid).values()) <= header.time_ns + LATE_NS


def test_a_program_that_another_thread_executes_keeps_its_ledger() -> None:
    with (
        subprocess.Popen(
            [build_c(EXEC_C)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program,
        FollowedTarget(program.pid) as followed,
    ):
        assert program.stdin is not None
        assert program.stdout is not None
        followed.catch_up()
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline().strip() == "executed"
        while not any(event.type == "program_executed" for event in followed.next().events):
            pass
        header = followed.catch_up()
        assert list(followed.seen.rows) == [program.pid]
        states = followed.seen.states(program.pid)
        assert sum(states.values()) <= header.time_ns + LATE_NS
        assert states["state_on_cpu_ns"] > 0
        program.stdin.write("\n")
        program.stdin.close()
        assert followed.until_ended().exited.threads >= 2


@pytest.mark.parametrize("counters", ["genetlink", "walk"])
def test_what_a_thread_used_before_it_executed_a_program_counts_under_its_own_id(
    counters: WalkChoice,
) -> None:
    with (
        subprocess.Popen(
            [build_c(EXEC_C), "50"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program,
        FollowedTarget(program.pid, counters=counters) as followed,
    ):

        def go_on(said: str) -> None:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write("\n")
            program.stdin.flush()
            assert program.stdout.readline().strip() == said
            # Asleep again: then its rows have all that it used.
            wait_until(lambda: status(program.pid, "State")[:1] == ["S"])

        followed.catch_up()
        go_on("computed")
        followed.until(lambda: len(followed.seen.rows) == 2)
        followed.catch_up()
        go_on("executed")
        shown = 0
        while program.pid not in {one.tid for one in followed.seen.ended}:
            shown = followed.seen.rows[program.pid]["cpu_run_ns"]
            followed.next()
        main = next(one for one in followed.seen.ended if one.tid == program.pid)
        assert shown <= main.totals["cpu_run_ns"]
        followed.catch_up()
        assert list(followed.seen.rows) == [program.pid]
        whole = time.clock_gettime_ns(~program.pid << 3 | 2)
        rows = [*followed.seen.rows.values(), *(one.totals for one in followed.seen.ended)]
        assert sum(row["cpu_run_ns"] for row in rows) == pytest.approx(whole, rel=0.03)
        # Fields of states may fall by microseconds when a stay ends.
        assert sum(row["state_on_cpu_ns"] for row in rows) <= 1.03 * whole
        program.kill()


def test_tables_say_what_rows_do_not(waits: KnownWaits) -> None:
    """Only what changed is sent; a key frame has it all; both say the same."""
    with FollowedTarget(waits.pid, rate_hz=5) as followed:
        waits.wait()
        names = {one.name: one.tid for one in waits.ready.threads}
        followed.catch_up()
        while not {"stays", "wakes", "locks", "lock_names"} <= followed.seen.tables.keys():
            followed.next()
        waits.run_short_threads()

        def are_complete() -> bool:
            stays, locks = (followed.seen.tables[name] for name in ("stays", "locks"))
            of_ended = int(stays["count"][stays["tid"] == 0].sum())
            return of_ended >= SHORT_THREADS and names["futex"] in locks["tid"].tolist()

        followed.until(are_complete)
        merged = dict(followed.seen.tables)
        while followed.next().kind != "key":
            merged = dict(followed.seen.tables)
        tables = followed.seen.tables
        # The merged changes equal the key frame, except for a second's changes.
        assert {name for name, table in merged.items() if len(table)} <= set(tables)
        before = {tuple(row)[:3] for row in merged["stays"].tolist()}
        after = {tuple(row)[:3] for row in tables["stays"].tolist()}
        assert len(before ^ after) <= len(after) // 5
        seen = followed.seen.rows[names["flock"]]
    finished = set(
        zip(tables["stays"]["tid"].tolist(), tables["stays"]["state"].tolist(), strict=True)
    )
    assert (names["sleep"], State.SLEEP) in finished
    assert (names["pipe"], State.PIPE) in finished
    assert set(tables["locks"]["lock"].tolist()) <= set(tables["lock_names"]["lock"].tolist())
    # A call that is no state of its own has a name beside the locks.
    [flock] = [row for row in tables["lock_names"] if row["name"] == "flock"]
    assert (flock["kind"], flock["source"]) == ("call", "system-call")
    locks = tables["locks"]
    mine = locks[(locks["lock"] == flock["lock"]) & (locks["tid"] == names["flock"])]
    assert 0 < int(mine["wait_ns"].sum()) <= seen["state_other_call_ns"]
    wakes = tables["wakes"]
    asleep = wakes[wakes["wakee_tid"] == names["sleep"]]
    assert "interrupt" in asleep["waker_name"].tolist()
    # Rows of 300 short threads are summed under thread ID 0.
    assert int(tables["stays"]["count"][tables["stays"]["tid"] == 0].sum()) >= SHORT_THREADS


def test_system_calls_are_counted_where_that_is_asked_for(waits: KnownWaits) -> None:
    with FollowedTarget(waits.pid, ledger=LedgerOptions(calls=True)) as followed:
        assert followed.target.source.calls
        waits.wait()
        names = set[str]()
        while not names & {"epoll_wait", "epoll_pwait"}:
            followed.next()
            if "calls" in followed.seen.tables:
                names = set(followed.seen.tables["calls"]["name"].tolist())


async def test_a_collector_that_gave_up_its_rights_keeps_ledgers(waits: KnownWaits) -> None:
    """A confined collector process over a backend keeps ledgers, exits and tables."""
    async with installation(options=["--calls"]) as whole:
        target, follower = await whole.attach(waits.pid)
        assert target.source.ledger
        assert target.source.calls
        waits.wait()
        waits.run_short_threads()
        names: set[str] = set()
        while not {"stays", "wakes", "locks", "lock_names", "calls"} <= names:
            header = await follower.next()
            names |= {table.name for table in header.tables or ()}
        header = await follower.until(lambda one: one.exited.threads >= SHORT_THREADS)
        assert set(STATE_FIELDS) <= header.exited.totals.keys()
        await whole.detach_all()
        last = await follower.until(lambda one: one.events[-1:] == [TargetDetached()])
        assert last.health.ledger_threads_uncounted == 0
        assert not any(e.type == "sample_failed" for h in follower.headers for e in h.events)


def test_switched_off_it_says_so(waits: KnownWaits) -> None:
    with FollowedTarget(waits.pid, ledger=LedgerOptions("off")) as followed:
        source = followed.target.source
        assert (source.ledger, source.ledger_reason) == (False, "it is switched off (--ledger off)")
        reasons = {one.field: one.reason for one in followed.target.absent}
        assert reasons["state_futex_ns"] == reasons[STATE] == source.ledger_reason
        assert not {STATE, *STATE_FIELDS} & set(followed.target.fields)
        assert followed.catch_up().rows >= 0


def test_the_process_that_ends_leaves_all_its_states() -> None:
    code = "import time\ninput()\nfor _ in range(20): time.sleep(0.02)\n"
    with (
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as program,
        FollowedTarget(program.pid) as followed,
    ):
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.close()
        last = followed.until_ended()
        (ended,) = followed.seen.ended
    assert ended.totals["state_sleep_ns"] > 0
    assert last.exited.totals["state_sleep_ns"] == ended.totals["state_sleep_ns"]
    assert sum(ended.totals[name] for name in STATE_FIELDS) <= last.time_ns + LATE_NS
