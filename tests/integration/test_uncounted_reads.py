"""Reads of TCP sockets by splice() are counted, or the threads that made them are known."""

from capabilities import needs
from followed_target import FollowedTarget
from programs.spliced_reads import BYTES, SplicedReads

pytestmark = [needs("root"), needs("btf")]

ROUNDS = 3
TABLES_NS = 1_000_000_000


def test_who_made_reads_that_are_not_counted_is_said() -> None:
    with SplicedReads() as program, FollowedTarget(program.pid) as followed:
        network = followed.target.source.network
        for _ in range(ROUNDS):
            program.read()
        # Tables come about once a second.
        first = followed.catch_up()
        while followed.next().time_ns < first.time_ns + 2 * TABLES_NS:
            pass
        rows = followed.seen.rows
        marked = {
            (int(row["tid"]), str(row["name"]), str(row["label"]))
            for row in followed.seen.tables.get("inexact", ())
        }
    received = rows[program.receiver]
    assert received["net_read_bytes"] == ROUNDS * BYTES
    if "splice() out of TCP sockets" in network:
        assert marked == {
            (program.splicer, "net_read_bytes", "at_least"),
            (program.splicer, "net_read_calls", "at_least"),
        }
        assert rows[program.splicer]["net_read_bytes"] == 0
    else:
        assert marked == set()
        assert rows[program.splicer]["net_read_bytes"] == ROUNDS * BYTES
