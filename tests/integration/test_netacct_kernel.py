"""Network numbers by eBPF against what programs moved, on this machine's kernel, byte for byte."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from programs.build import build_c
from programs.netmoves import CASES, FIELDS, Harness, build, differences, measure
from programs.netmoves import harness as made_harness
from programs.spliced_reads import BYTES, SplicedReads
from programs.unprivileged import see

NOBODY = 65534
EXEC_C = Path(__file__).parents[1] / "programs" / "exec_elsewhere.c"


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with made_harness("ebpf") as made:
        assert made.sources.network.kind == "ebpf", made.sources.network.description
        yield made


def test_the_program_has_the_cases_that_are_listed() -> None:
    reported = subprocess.run([str(build()), "--list"], check=True, capture_output=True, text=True)
    assert reported.stdout.split() == list(CASES)


@pytest.mark.parametrize("case", CASES)
def test_numbers_agree(case: str, harness: Harness) -> None:
    outcome = measure(case, harness)
    assert outcome.report.unsupported is None
    assert any(sum(one.numbers) for one in outcome.report.threads) or case == "not_internet"
    assert differences(case, outcome) == []


@pytest.mark.parametrize("case", ["tcp4_read_write", "used_id", "short_threads", "shared_socket"])
def test_numbers_agree_where_counters_are_walked(case: str) -> None:
    with made_harness("ebpf", "walk") as harness:
        assert harness.sources.walk.obstacle is None
        assert differences(case, measure(case, harness)) == []


def test_a_thread_that_executes_a_program_goes_on_under_its_process_id() -> None:
    with (
        subprocess.Popen(
            [str(build_c(EXEC_C)), "first"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
        FollowedTarget(process.pid) as followed,
    ):
        assert process.stdin is not None
        assert process.stdout is not None

        def go_on(said: str) -> list[int]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == said
            followed.flush()
            # The sample that has the end of the first thread leaves its ID out.
            followed.until(lambda: process.pid in followed.seen.rows)
            row = followed.seen.rows[process.pid]
            return [row[name] for name in FIELDS]

        followed.flush()
        # The first thread sent 5 bytes, another one 70 and then executed the program again, which
        # sent nothing so far.
        assert go_on("executed\n") == [0, 70, 0, 1]
        assert go_on("sent 300\n") == [0, 370, 0, 2]
        process.kill()


def test_without_rights_the_reason_is_reported() -> None:
    reported = see(NOBODY, "network")
    assert reported.startswith("none: ")
    assert "CAP_BPF and CAP_PERFMON" in reported
    assert "see Doctor" in reported


@pytest.mark.parametrize(
    ("rights", "words"), [("+bpf,+perfmon", "ebpf: "), ("+bpf", "lacks CAP_PERFMON")]
)
def test_two_capabilities_are_enough(rights: str, words: str) -> None:
    reported = see(0, "network", within=["setpriv", "--bounding-set", f"-all,{rights}"])
    assert words in reported


def test_in_another_pid_namespace_the_reason_is_reported() -> None:
    reported = see(0, "network", within=["unshare", "--pid", "--fork", "--mount-proc"])
    assert "initial PID namespace" in reported


def test_it_can_be_switched_off() -> None:
    with made_harness("none") as harness:
        outcome = measure("tcp4_peek", harness)
    assert outcome.network == "none: disabled (--network none)"
    assert set(outcome.live.values()) == {(-1, -1, -1, -1)}


def test_the_switch_takes_known_sources_only() -> None:
    command = [sys.executable, "-m", "tidscope_collector", "run", "--network", "wires"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'wires'" in done.stderr


ROUNDS = 3


@needs("root")
@needs("btf")
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
