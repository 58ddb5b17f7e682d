"""Block-I/O delays of threads that read with O_DIRECT: what the kernel counts wrongly is not given.

Linux 6.12 and newer now and then add the time since an earlier wait began, or since the machine
did, and leave waits out (6.18, of 8 threads on a CPU: within some hundred reads, as a rule). Older
kernels do not: there nothing may be corrected.
"""

import time

import pytest
from capabilities import needs
from delay_switch import switched
from followed_target import FollowedTarget
from programs.direct_reads import DirectReads
from tidscope_collector.sampling.io_bounds import (
    BLKIO,
    BLKIO_COUNT,
    DISK_STATES,
    IO_STATES,
    SLACK_NS,
    TOLERANCE,
    WAKE_NS,
)
from tidscope_collector.waits.source import Choice, LedgerOptions

pytestmark = [needs("root"), needs("delay-accounting"), needs("btf")]

ROUNDS = 12
AROUND_NS = 1_000_000_000


@pytest.mark.parametrize("ledger", ["auto", "off"])
def test_no_frame_has_a_delay_that_is_longer_than_the_process(ledger: Choice) -> None:
    with switched(True):
        began_ns = time.monotonic_ns()
        with (
            DirectReads() as program,
            FollowedTarget(program.pid, ledger=LedgerOptions(choice=ledger)) as followed,
        ):
            for _ in range(ROUNDS):
                program.read()
                before = followed.seen.header
                last = followed.catch_up()
                # Tables come about once a second.
                while before is None or last.time_ns < before.time_ns + 1_100_000_000:
                    life_ns = time.monotonic_ns() - began_ns + AROUND_NS
                    assert all(row.get(BLKIO, 0) < life_ns for row in followed.seen.rows.values())
                    last = followed.next()
                if len(followed.seen.tables.get("inexact", ())):
                    break
            labels = {int(row["tid"]): row for row in followed.seen.tables.get("inexact", ())}
            rows = dict(followed.seen.rows)
            totals = {role.role: role.totals for role in last.roles or ()}
            program.close()
            followed.until_ended()
            ended = {event.tid: event for event in followed.seen.ended}
            life_ns = time.monotonic_ns() - began_ns + AROUND_NS
    for tid, label in labels.items():
        assert label["name"] == BLKIO
        assert label["label"] == ("ledger" if ledger == "auto" else "invalid")
        assert BLKIO in ended[tid].inexact
        if ledger == "off":
            assert label["kernel"] > label["life_ns"]
            assert BLKIO not in rows[tid]
            assert BLKIO not in ended[tid].totals
        else:
            assert label["kernel"] != rows[tid][BLKIO]
            known = sum(rows[tid][state] for state in DISK_STATES)
            assert known <= rows[tid][BLKIO] < life_ns
            assert known <= ended[tid].totals[BLKIO] < life_ns
    for tid in rows.keys() - labels:
        assert BLKIO not in ended[tid].inexact
    if ledger == "auto":
        # The first thread has none: it may have begun before delays were counted.
        for row in (rows[tid] for tid in rows.keys() - labels if BLKIO in rows[tid]):
            known = sum(row[state] for state in DISK_STATES)
            most = TOLERANCE * sum(row[state] for state in IO_STATES)
            assert row[BLKIO] >= known / TOLERANCE - SLACK_NS
            assert row[BLKIO] <= most + WAKE_NS * row[BLKIO_COUNT] + SLACK_NS
    for sums in totals.values():
        assert sums[BLKIO] < life_ns * len(rows)
