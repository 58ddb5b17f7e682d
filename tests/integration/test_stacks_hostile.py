"""A program that takes stacks lies, floods, or says nothing: it is given up, all else goes on."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from fake_stacks import counts, frames, nodes, samples, start_fake, status
from processes import wait_for_end
from programs.known_code import KnownCode, command
from stack_collector import StackCollector, StackedTarget
from tidscope_collector.stacks import program as stack_program
from tidscope_collector.stacks import service
from tidscope_collector.stacks.program import StackProgram
from tidscope_collector.waits.states import State
from tidscope_wire.problems import ProblemError

pytestmark = [needs("root"), needs("btf")]

BEGUN = [status("loading"), status("sampling")]
LIES = {
    "no-kind": b"?",
    "empty-frames": b"F[]",
    "frames-of-text": b'F["1"]',
    "frame-number-text": b'F[["1","native","f","",0,"m",1,""]]',
    "frame-number-zero": frames(0, "f"),
    "frame-number-huge": frames(1 << 40, "f"),
    "frame-number-gap": frames(3, "f"),
    "frame-function-number": b'F[[1,"native",7,"",0,"m",1,""]]',
    "frame-function-huge": frames(1, "f" * 3000),
    "frame-function-half-a-character": b'F[[1,"native","\\ud800","",0,"m",1,""]]',
    "frame-line-negative": frames(1, "f", line=-1),
    "frame-address-huge": frames(1, "f", address=1 << 64),
    "frame-nested": b"F" + b"[" * 50_000,
    "node-of-no-frame": nodes((1, 0, 1)),
    "node-below-itself": frames(1, "f") and nodes((1, 1, 1)),
    "node-number-zero": nodes((0, 0, 1)),
    "node-cut": nodes((1, 0, 1))[:-1],
    "sample-cut": samples({})[:-1],
    "sample-state": samples({"state": len(State)}),
    "sample-weight": samples({"weight": 0}),
    "sample-thread": samples({"tid": 0}),
    "sample-begin": samples({"begin_ns": 1 << 63}),
    "sample-wait": samples({"wait_ns": 1 << 63}),
    "sample-delay": samples({"delay_ns": (1 << 64) - 1}),
    "counts-cut": counts(1)[:-1],
    "counts-huge": counts(1 << 60),
    "status-unknown": status("resting"),
    "status-again": status("sampling"),
    "status-time": status("failed", at_ns=1 << 70),
    "status-rate": status("failed", cpu_hz=float("nan")),
    "status-reason": status("failed", reason="x" * 5000),
    "status-more": status("failed", secret="x"),
    "status-text": b"Swhat",
}


@pytest.fixture(scope="module")
def working() -> Iterator[KnownCode]:
    """A program that works all along."""
    with KnownCode(command("c")) as made:
        made.begin(3600)
        yield made


def given_up(program: StackProgram, working: KnownCode) -> str:
    """Let it take stacks, until it is given up; return the reason that its target gives."""
    with StackCollector(program) as collector:
        target = collector.attach(working.pid)
        collector.sample(target)
        state = collector.given_up(target)
        wait_for_end(program.pid)
        assert (state.trigger, state.until_unix_us) == ("none", None)
        with pytest.raises(ProblemError, match="no stacks can be taken"):
            collector.sample(target)
        goes_on(collector, target)
        return state.reason


def goes_on(collector: StackCollector, target: StackedTarget) -> None:
    """Check that frames of a target come, with its tables."""
    since = collector.now_ns(target)
    collector.until(lambda: target.seen.tables_ns > since)
    assert working_rows(target) > 1


def working_rows(target: StackedTarget) -> int:
    return len(target.seen.rows)


@pytest.mark.parametrize("lie", LIES)
def test_a_message_that_cannot_be_is_the_last_one(
    lie: str, tmp_path: Path, working: KnownCode
) -> None:
    program = start_fake(tmp_path, [*BEGUN, LIES[lie]])
    assert "given up" in given_up(program, working)


def test_messages_without_end_are_not_read_without_end(tmp_path: Path, working: KnownCode) -> None:
    flood = "while True: link.send(messages[-1])"
    program = start_fake(tmp_path, [*BEGUN, counts(1)], then=flood)
    assert "more than 1000 messages within a second" in given_up(program, working)


def test_a_program_that_begins_and_fails_all_the_time(tmp_path: Path, working: KnownCode) -> None:
    program = start_fake(tmp_path, [*BEGUN, status("failed", reason="no luck")])
    assert "failed: no luck" in given_up(program, working)


def test_a_program_that_ends_unasked_all_the_time(tmp_path: Path, working: KnownCode) -> None:
    program = start_fake(tmp_path, [*BEGUN, status("ended")])
    assert "it ended unasked" in given_up(program, working)


def test_silence_is_not_waited_for_without_end(
    tmp_path: Path, working: KnownCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SILENCE_NS", 1_000_000_000)
    assert "it said nothing for 1 s" in given_up(start_fake(tmp_path, []), working)


def test_a_program_that_does_not_end_is_killed(
    tmp_path: Path, working: KnownCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack_program, "END_S", 0.2)
    program = start_fake(tmp_path, BEGUN, at_end="time.sleep(1000)")
    with StackCollector(program) as collector:
        target = collector.attach(working.pid)
        collector.sample(target)
        collector.until(lambda: collector.service.periods() != [])
        began = time.monotonic()
    assert time.monotonic() - began < 60
    wait_for_end(program.pid)


def test_what_can_be_becomes_rows_of_its_target_only(tmp_path: Path, working: KnownCode) -> None:
    own = {"process": working.pid, "tid": working.pid}
    rows = samples(
        {**own, "number": 1, "node": 2, "weight": 7},
        {**own, "number": 2, "node": 60_000},
        {"number": 3, "process": 1, "tid": 1, "node": 1},
    )
    names = [frames(1, "main", "serve"), nodes((1, 0, 1), (2, 1, 2))]
    program = start_fake(tmp_path, [*BEGUN, *names, rows, counts(2, 0, 1)])
    with StackCollector(program) as collector:
        target = collector.attach(working.pid)
        collector.sample(target)
        collector.until(lambda: len(target.samples) > 0)
        found = target.samples
        assert found["tid"].tolist() == [working.pid, working.pid]
        assert found["weight"].tolist() == [7, 1]
        # A stack that was never sent is unknown.
        assert int(found["node"][1]) == 0
        stack = target.code().stack(int(found["node"][0]))
        assert [one.function for one in stack] == ["serve", "main"]
        collector.until(lambda: target.counts == {1: 2, 3: 1})
        assert collector.service.obstacle is None
        goes_on(collector, target)
