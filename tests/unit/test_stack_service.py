"""The service of stacks against a program that the test plays."""

import threading
import time
from collections.abc import Iterator

import pytest
from driven_stacks import DrivenStacks
from fake_stacks import counts, frames, nodes, samples, status
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.stacks import program, service
from tidscope_collector.stacks.program import NO_STACKS
from tidscope_collector.stacks.service import MAX_FAILURES, StackService
from tidscope_wire.problems import ProblemError


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> Iterator[DrivenStacks]:
    monkeypatch.setattr(program, "END_S", 1.0)
    with DrivenStacks() as made:
        yield made


@pytest.fixture
def short_linger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LINGER_NS", 1_000_000)


def test_a_lease_begins_and_its_end_ends(driven: DrivenStacks, short_linger: None) -> None:
    state = driven.service.sample("a", 0.01)
    assert state.until_unix_us is not None
    assert abs(state.until_unix_us - time.time_ns() / 1000) < 60_000_000
    driven.begin()
    assert driven.command() == b"end"
    driven.send(status("ended", at_ns=time.monotonic_ns()))
    driven.until_state("ended")
    (period,) = driven.service.periods()
    assert 0 < period.begin_ns <= period.end_ns
    assert driven.service.state("a").until_unix_us is None


def test_a_lease_lingers_so_that_a_page_may_go_on(driven: DrivenStacks) -> None:
    driven.service.sample("a", 0.001)
    driven.begin()
    time.sleep(0.05)
    driven.service.sample("a", 100)
    driven.service.sample("b", 100)
    driven.service.forget("a")
    # Nothing was ended in between: the next command is that of the last lease's end.
    driven.service.forget("b")
    assert driven.command() == b"end"


def test_a_worker_that_ends_as_asked_has_not_failed_though_it_is_wanted_again(
    driven: DrivenStacks,
) -> None:
    driven.service.sample("a", 100)
    driven.begin()
    driven.service.forget("a")
    assert driven.command() == b"end"
    driven.service.sample("a", 100)
    assert driven.command() == b"begin"
    driven.send(status("ended"), status("loading"), status("sampling"))
    driven.until(lambda: len(driven.service.periods()) == 2)
    # Nothing was begun once more.
    driven.service.forget("a")
    assert driven.command() == b"end"


def test_the_latest_end_of_a_lease_counts(driven: DrivenStacks) -> None:
    first = driven.service.sample("a", 100)
    second = driven.service.sample("a", 1)
    assert first.until_unix_us is not None
    assert second.until_unix_us is not None
    assert abs(first.until_unix_us - second.until_unix_us) < 30_000_000
    driven.service.forget("b")
    driven.begin()


def test_a_target_hears_until_nothing_is_taken(driven: DrivenStacks) -> None:
    driven.service.sample("a", 100)
    driven.begin()
    driven.until(lambda: driven.reported[-1][1].trigger == "tracepoint")
    driven.service.forget("a")
    assert driven.command() == b"end"
    driven.send(status("ended"))
    driven.until(lambda: driven.reported[-1][1].trigger == "none")
    reported = len(driven.reported)
    driven.service.sample("b", 100)
    driven.begin()
    driven.until(lambda: driven.reported[-1][1].trigger == "tracepoint")
    assert {target for target, _ in driven.reported[reported:]} == {"b"}


def test_batches_have_the_names_of_their_worker(driven: DrivenStacks) -> None:
    driven.service.sample("a", 100)
    driven.begin()
    names = frames(1, "first"), nodes((1, 0, 1))
    driven.send(*names, samples({"node": 1}), status("failed", reason="gone"))
    driven.begin()
    driven.send(frames(1, "second"), nodes((1, 0, 1)), samples({"node": 1}))
    first, second = driven.batches(2)
    assert first.serial < second.serial
    assert first.epoch < second.epoch
    functions = [one.worker.path(1)[0][1].function for one in (first, second)]
    assert functions == ["first", "second"]
    assert [one.serial for one in driven.service.since(first.serial)] == [second.serial]


def test_counts_of_workers_add_up(driven: DrivenStacks) -> None:
    driven.service.sample("a", 100)
    driven.begin()
    driven.send(counts(1, 2), counts(5, 3), status("failed"))
    driven.begin()
    driven.send(counts(10))
    driven.until(lambda: driven.service.counts() == [15, 3, 0, 0, 0, 0])


def test_old_samples_make_room(driven: DrivenStacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_SAMPLES", 3)
    driven.service.sample("a", 100)
    driven.begin()
    for number in range(1, 5):
        driven.send(samples({"number": number}, {"number": number}))
    driven.until(lambda: [one.serial for one in driven.service.since(0)] == [4])


def test_a_worker_that_fails_begins_again_and_then_is_given_up(driven: DrivenStacks) -> None:
    driven.service.sample("a", 100)
    for _ in range(MAX_FAILURES):
        driven.begin()
        driven.send(status("failed", reason="no luck"))
    driven.until(lambda: driven.service.obstacle is not None)
    assert driven.command() == b""
    target, state = driven.reported[-1]
    assert (target, state.trigger, state.until_unix_us) == ("a", "none", None)
    assert state.reason == (
        "No stacks are taken: the program that takes them failed: no luck. Restart the collector."
    )
    with pytest.raises(ProblemError, match="failed: no luck"):
        driven.service.sample("a", 1)


def test_failures_of_long_ago_do_not_count(
    driven: DrivenStacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "HEALTHY_NS", 0)
    driven.service.sample("a", 100)
    for _ in range(3 * MAX_FAILURES):
        driven.begin()
        driven.send(status("failed", at_ns=time.monotonic_ns()))
    driven.begin()
    assert driven.service.obstacle is None


def test_a_program_that_hangs_up_is_given_up(driven: DrivenStacks) -> None:
    driven.hang_up()
    driven.until(lambda: driven.service.obstacle is not None)
    assert "closed its connection" in driven.service.reason
    assert "closed its connection" in str(driven.service.finding())


def test_silence_counts_only_while_stacks_are_wanted(
    driven: DrivenStacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SILENCE_NS", 50_000_000)
    time.sleep(0.1)
    assert driven.service.obstacle is None
    driven.service.sample("a", 100)
    driven.until(lambda: driven.service.obstacle is not None)
    assert "it said nothing" in driven.service.reason


def test_a_service_that_ends_ends_its_program_and_thread() -> None:
    with DrivenStacks() as driven:
        driven.service.sample("a", 100)
        driven.begin()
    assert "stacks" not in {one.name for one in threading.enumerate()}
    driven.service.close()


def test_findings_say_how_stacks_are_taken(driven: DrivenStacks) -> None:
    assert driven.service.finding() == (
        "The program that takes stacks waits until they are wanted."
    )
    driven.service.sample("a", 100)
    driven.begin()
    found = driven.service.finding()
    assert found == "Stacks are being taken by tracepoint: one costs the thread 5 us."


@pytest.mark.parametrize("obstacle", [NO_STACKS, Obstacle("there is none", "Build it.")])
def test_without_a_program_there_is_a_reason(obstacle: Obstacle) -> None:
    without = StackService(obstacle)
    without.give_maps([], "")
    without.start()
    with pytest.raises(ProblemError, match=obstacle.reason):
        without.sample("a", 1)
    state = without.state("a")
    assert obstacle.reason in state.reason
    assert state.trigger == "none"
    assert (without.since(0), without.periods()) == ([], [])
    without.close()


def test_without_ledgers_there_are_no_stacks(driven: DrivenStacks) -> None:
    driven.service.give_maps(None, "this kernel has no BTF")
    assert driven.service.reason == (
        "No stacks are taken: they need ledgers of states: this kernel has no BTF. "
        "Doctor says what ledgers need."
    )
