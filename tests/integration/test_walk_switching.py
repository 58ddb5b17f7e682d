"""Choice of the source of counters: as requested, and never a walk that is wrong."""

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
from tidscope_collector.walk import programs
from tidscope_collector.walk.choice import Choice, is_tickless
from tidscope_wire.frame import split
from tidscope_wire.generated.models import CountersSourceChanged, FrameHeader

SOURCE = Path(__file__).parents[2] / "sampler" / "src" / "walk" / "task_iterator.bpf.c"
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


def use(monkeypatch: pytest.MonkeyPatch, object_file: Path) -> None:
    """Walk by other programs than the built-in ones."""
    monkeypatch.setattr(programs, "bpf_object", lambda _: object_file.read_bytes())


class Watched(Sampled):
    """Targets whose frames are believed only as long as they do not contradict each other."""

    def __init__(self, counters: Choice) -> None:
        super().__init__(counters)
        self.receivers: dict[str, Receiver] = {}

    def next(self) -> FrameHeader:
        data = self.frames.get(timeout=120)
        receiver = self.receivers.setdefault(split(data)[0].target, Receiver())
        return receiver.frame(data)[0]

    def until_changed(self) -> tuple[CountersSourceChanged, FrameHeader]:
        """Go on to where counters are read another way."""
        while True:
            header = self.next()
            for event in header.events:
                if isinstance(event, CountersSourceChanged):
                    return event, header


@contextmanager
def watched(counters: Choice) -> Iterator[Watched]:
    made = Watched(counters)
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


def test_counters_are_walked_where_the_kernel_can(tmp_path: Path) -> None:
    with watched("auto") as found, busy_threads(tmp_path) as pid:
        found.targets.attach(pid, None, 20)
        assert {found.next().counters_from for _ in range(40)} == {"walk"}


def test_a_walk_that_is_wrong_from_the_start_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, built_with(tmp_path, "+ 1000000"))
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
    use(monkeypatch, built_with(tmp_path, wrong))
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
        # Nobody else is walked either.
        found.targets.attach(work.pid, None, 50)
        for _ in range(20):
            assert found.next().counters_from == "genetlink"


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
