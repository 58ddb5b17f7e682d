"""Reads of TCP sockets by splice() are counted, or the threads that made them are known."""

from capabilities import needs
from followed_target import FollowedTarget
from programs.spliced_reads import BYTES, SplicedReads

pytestmark = [needs("root"), needs("btf")]

ROUNDS = 3


def test_who_made_reads_that_are_not_counted_is_said() -> None:
    with SplicedReads() as program, FollowedTarget(program.pid) as followed:
        uncounted = "splice() out of TCP sockets" in followed.target.source.network
        for _ in range(ROUNDS):
            program.read()
        after = followed.catch_up()
        # Tables are read seldom on a slow machine; key frames have them all.
        followed.until(
            lambda: (
                "inexact" in followed.seen.tables
                if uncounted
                else followed.seen.tables_ns > after.time_ns
            )
        )
        rows = followed.seen.rows
        marked = {
            (int(row["tid"]), str(row["name"]), str(row["label"]))
            for row in followed.seen.tables.get("inexact", ())
        }
    assert rows[program.receiver]["net_read_bytes"] == ROUNDS * BYTES
    if uncounted:
        assert marked == {
            (program.splicer, "net_read_bytes", "at_least"),
            (program.splicer, "net_read_calls", "at_least"),
        }
        assert rows[program.splicer]["net_read_bytes"] == 0
    else:
        assert marked == set()
        assert rows[program.splicer]["net_read_bytes"] == ROUNDS * BYTES
