"""Which way counters are read: as asked for, by their price, and never by a walk that is wrong."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import Sampled
from programs.build import cached
from programs.busy_threads import busy_threads
from programs.known_work import KnownWork
from receiver import Receiver
from tidscope_backend.notebook import list_runs, open_run
from tidscope_collector.discovery import task_iterator
from tidscope_collector.walk import policy
from tidscope_collector.walk.choice import Choice, is_tickless
from tidscope_collector.walk.policy import AskingCost
from tidscope_wire.generated.models import CountersSourceChanged, FrameHeader

SOURCE = task_iterator.OBJECT.with_suffix(".c")
INCLUDES = f"-I/usr/include/{os.uname().machine}-linux-gnu"
COUNT = "GIVE(2, task->sched_info.pcount, task->sched_info.pcount"
"""Writes the second counter of read_counters that taskstats has as well."""

pytestmark = [needs("root"), needs("btf")]


def built_with(folder: Path, count: str) -> Path:
    """The task iterators as they would be wrong on another kernel: with another count."""
    source = SOURCE.read_text()
    assert source.count(COUNT) == 1
    file = folder / "changed.bpf.c"
    file.write_text(source.replace(COUNT, f"{COUNT} {count}"))
    command = ["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-g", INCLUDES, "-c"]
    return cached("changed.bpf.o", file.read_bytes(), command, [str(file)], env=dict(os.environ))


class Watched(Sampled):
    """Targets whose frames are believed only as long as they do not contradict each other."""

    def __init__(self, counters: Choice, budget_percent: float = 0) -> None:
        super().__init__(counters, budget_percent)
        self.receiver = Receiver()

    def next(self) -> FrameHeader:
        return self.receiver.frame(self.frames.get(timeout=120))[0]

    def until_changed(self) -> tuple[CountersSourceChanged, FrameHeader]:
        """Go on to where counters are read another way."""
        while True:
            header = self.next()
            for event in header.events:
                if isinstance(event, CountersSourceChanged):
                    return event, header


@contextmanager
def watched(counters: Choice, budget_percent: float = 0) -> Iterator[Watched]:
    made = Watched(counters, budget_percent)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("counters", ["genetlink", "walk"])
def test_frames_say_which_way_was_asked_for(counters: Choice, tmp_path: Path) -> None:
    with watched(counters) as found, busy_threads(tmp_path) as pid:
        target, _ = found.targets.attach(pid, None, 100)
        walked = "read in one walk" if counters == "walk" else "not read in one walk"
        assert walked in target.source.reason
        for _ in range(50):
            header = found.next()
            assert header.counters_from == counters
            assert header.health.counters_disagreement is None


def test_small_targets_are_asked_for(tmp_path: Path) -> None:
    # Half of a whole core is enough for twenty threads, whatever the machine.
    with watched("auto", 100) as found, busy_threads(tmp_path) as pid:
        found.targets.attach(pid, None, 20)
        assert {found.next().counters_from for _ in range(40)} == {"genetlink"}


def test_where_asking_takes_too_much_counters_are_walked(tmp_path: Path) -> None:
    with watched("auto", 0.01) as found, busy_threads(tmp_path) as pid:
        target, _ = found.targets.attach(pid, None, 50)
        assert "where requests take half" in target.source.reason
        assert found.next().counters_from == "genetlink"
        event, header = found.until_changed()
        assert (event.previous, event.source, event.disagreed) == ("genetlink", "walk", False)
        assert "0.005 % of a core, half of the CPU budget" in event.reason
        assert header.counters_from == "walk"
        for _ in range(50):
            assert found.next().counters_from == "walk"


def test_both_ways_take_turns_without_a_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is moved to and fro; rows, births and exits go on as if nothing were."""
    monkeypatch.setattr(policy, "DOWN_NS", 100_000_000)
    monkeypatch.setattr(policy, "UP_NS", 100_000_000)
    monkeypatch.setattr(policy, "PROVEN_NS", 0)
    costs: list[AskingCost] = []

    class Moved(AskingCost):
        """The real policy, whose limit the test can reach."""

        def __init__(self, limit: float) -> None:
            super().__init__(limit)
            costs.append(self)

    monkeypatch.setattr("tidscope_collector.walk.choice.AskingCost", Moved)
    with watched("auto", 0.01) as found, busy_threads(tmp_path) as pid:
        found.targets.attach(pid, None, 100)
        for turn in range(6):
            event, header = found.until_changed()
            walks = turn % 2 == 0
            assert event.source == header.counters_from == ("walk" if walks else "genetlink")
            for _ in range(10):
                assert found.next().counters_from == event.source
            costs[0].limit = 1000.0 if walks else 0.00005


def test_a_walk_that_is_wrong_from_the_start_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_iterator, "OBJECT", built_with(tmp_path, "+ 1000000"))
    with watched("walk") as found, KnownWork() as work:
        obstacle = found.sources.walk.obstacle
        assert obstacle is not None
        assert "cpu_count of thread" in obstacle.reason
        target, _ = found.targets.attach(work.pid, None, 50)
        assert obstacle.reason in target.source.reason
        assert found.next().counters_from == "genetlink"


def test_a_walk_that_becomes_wrong_is_given_up_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong for the threads named files only: this process, which walks itself first, has none."""
    wrong = "+ (task->comm[0] == 'f' && task->comm[1] == 'i')"
    monkeypatch.setattr(task_iterator, "OBJECT", built_with(tmp_path, wrong))
    with watched("walk") as found, busy_threads(tmp_path) as pid, KnownWork() as work:
        assert found.sources.walk.obstacle is None
        found.targets.attach(pid, None, 100)
        event, header = found.until_changed()
        assert (event.previous, event.source, event.disagreed) == ("walk", "genetlink", True)
        assert "cpu_count of thread" in event.reason
        assert header.counters_from == "genetlink"
        disagreement = header.health.counters_disagreement
        assert disagreement is not None
        assert disagreement in event.reason
        obstacle = found.sources.walk.obstacle
        assert obstacle is not None
        assert disagreement in obstacle.reason
        for _ in range(20):
            assert found.next().counters_from == "genetlink"
        # Nobody else walks either.
        option = found.sources.walk.option(work.pid, found.sources.reader(work.pid))
        assert option is None


@pytest.mark.parametrize("source", ["genetlink", "walk"])
def test_a_run_says_how_its_counters_were_read(tmp_path: Path, source: str) -> None:
    """The whole way: `tidscope record` without a running tidscope, manifest and notebook."""
    environ = {name: value for name, value in os.environ.items() if "TIDSCOPE" not in name}
    command = [sys.executable, "-m", "tidscope_backend", "record", "--source", source]
    subprocess.run(
        [*command, "--", "sleep", "0.5"],
        check=True,
        capture_output=True,
        env={**environ, "TIDSCOPE_RUNS": str(tmp_path)},
    )
    (manifest,) = list_runs(tmp_path)
    assert manifest.counters_from == [source]
    read = open_run(manifest.id, tmp_path).signals()["counters_from"].to_pylist()
    assert set(read) <= {source, None}
    assert source in read


@pytest.mark.parametrize(
    ("listed", "tickless"), [("", False), ("(null)\n", False), ("\n", False), ("2-7\n", True)]
)
def test_cpus_without_ticks(tmp_path: Path, listed: str, tickless: bool) -> None:
    file = tmp_path / "nohz_full"
    assert not is_tickless(file)
    file.write_text(listed)
    assert is_tickless(file) is tickless
