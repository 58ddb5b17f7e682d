"""The compiled usual sample, on the real kernel: its rows are those that Python reads."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from capabilities import needs
from programs.obedient_threads import ObedientThreads
from taskstats_replies import forge
from tidscope_collector.compiled import structs
from tidscope_collector.compiled.library import LIBRARY, load
from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.sampling.steady_reader import SteadyReader
from tidscope_collector.targets.sources import Sources
from tidscope_collector.taskstats.refusals import Refusal
from tidscope_collector.threads.reading import Reading, TargetExitedError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*LIBRARY.parent.glob("*.c"), *LIBRARY.parent.glob("*.h")])
pytestmark = [needs("root"), needs("btf")]


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    made = Sources(ProcFs())
    yield made
    made.close()


class Compared:
    """A program read by the compiled sample, and beside it as every thread is asked."""

    def __init__(self, sources: Sources, pid: int) -> None:
        reader = sources.process_reader(pid)
        assert isinstance(reader, SteadyReader)
        self.reader = reader
        self._plain = sources.reader(pid)
        assert isinstance(sources.iterators, TaskIterators)
        self._iterator = sources.iterators.over(pid)

    def settle(self) -> None:
        """Wait until all threads sleep."""
        deadline = time.monotonic() + 20
        while (idle := self._iterator.list_threads().idle) is None or not idle.all():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def read(self) -> Reading:
        """Read it, all threads asleep, and compare."""
        self.settle()
        reading = self.reader.read()
        expected = self._plain.read(self.reader.listed)
        assert reading.tid.tolist() == expected.tid.tolist()
        assert reading.counters.tolist() == expected.counters.tolist()
        assert reading.name.tolist() == expected.name.tolist()
        assert reading.absent is None
        return reading

    def changed(self) -> list[int]:
        """Ids of the threads whose rows changed in a steady sample."""
        reading = self.read()
        assert reading.changed is not None
        tids: list[int] = reading.tid[reading.changed].tolist()
        reading.changed[:] = False
        return tids

    def close(self) -> None:
        self.reader.close()
        self._plain.close()
        self._iterator.close()


@pytest.fixture
def program() -> Iterator[ObedientThreads]:
    with ObedientThreads() as started:
        for name in ("one", "two", "three"):
            started.order(f"born {name}")
        yield started


@pytest.fixture(params=["program", "iterator"])
def compared(
    request: pytest.FixtureRequest,
    sources: Sources,
    program: ObedientThreads,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Compared]:
    """With the threads listed as the newest kernels can, and as those before them."""
    if request.param == "iterator":
        monkeypatch.setattr(sources.walk, "walks_of", lambda _: None)
    made = Compared(sources, program.pid)
    yield made
    made.close()


def test_rows_are_those_of_asking_everyone(program: ObedientThreads, compared: Compared) -> None:
    first = compared.read()
    assert compared.changed() == []
    assert compared.read() is first
    assert compared.reader.asked == 0
    for turn in range(10):
        program.order(f"work {('one', 'two', 'three')[turn % 3]} {1000 + turn}")
        # The main thread took the command.
        changed = compared.changed()
        assert program.pid in changed
        assert len(changed) == compared.reader.asked == 2


def test_changes_wait_for_whoever_takes_them_in(
    program: ObedientThreads, compared: Compared
) -> None:
    compared.read()
    program.order("work one 10")
    first = compared.read()
    program.order("work two 10")
    second = compared.read()
    assert second is first
    assert second.changed is not None
    assert int(second.changed.sum()) == 3


def test_births_ends_and_names_are_read_by_python(
    program: ObedientThreads, compared: Compared
) -> None:
    compared.read()
    before = set(compared.read().tid.tolist())
    for order in ("born four", "ends two", "named one other"):
        rows = compared.read()
        assert compared.read() is rows
        program.order(order)
        rows, before_it = compared.read(), rows
        assert rows is not before_it, order
        assert compared.read() is rows
        program.order("work three 77")
        assert len(compared.changed()) == 2
    after = compared.read()
    assert len(set(after.tid.tolist()) ^ before) == 2
    assert b"other" in after.name.tolist()


def test_network_bytes_are_counted_where_ebpf_does(
    sources: Sources, program: ObedientThreads, compared: Compared
) -> None:
    if "net_write_bytes" not in compared.reader.fields:
        pytest.fail(f"no network columns: {sources.network.description}")
    column = compared.reader.fields.index("net_write_bytes")
    compared.read()
    rows = compared.read()
    for sent in (500, 1000):
        program.order("work two 500")
        reading = compared.read()
        assert reading is rows
        assert reading.counters[:, column].tolist().count(sent) == 1


def test_a_forged_reply_is_refused_counted_and_changes_nothing(
    sources: Sources, program: ObedientThreads, compared: Compared
) -> None:
    rows = compared.read()
    assert compared.read() is rows
    assert sources.kernel is not None
    query = compared.reader.query
    before = query.refused.get(Refusal.SENDER, 0)
    program.order("work one 10")
    compared.settle()
    with socket.socket(fileno=os.dup(query.descriptor)) as link:
        forge(link, program.pid, sources.kernel, 1)
    again = compared.read()
    assert again is not rows
    assert query.refused[Refusal.SENDER] == before + 1
    assert compared.read() is again


def test_the_end_of_the_process_is_an_end(sources: Sources) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        reader = sources.process_reader(child.pid)
        reader.read()
        reader.read()
        child.kill()
        child.wait()
        with pytest.raises(TargetExitedError):
            reader.read()
        reader.close()


def test_two_targets_share_the_socket(sources: Sources) -> None:
    with ObedientThreads() as one, ObedientThreads() as two:
        both = [(program, Compared(sources, program.pid)) for program in (one, two)]
        for program, compared in both:
            program.order("born a")
            compared.read()
        for _ in range(3):
            for program, compared in both:
                program.order("work a 100")
                assert len(compared.changed()) == 2
        # More threads than there was room for: the requests and replies of all move.
        for number in range(300):
            two.order(f"born b{number}")
        rows = both[0][1].read()
        both[1][1].read()
        one.order("work a 100")
        assert both[0][1].read() is not rows
        one.order("work a 100")
        assert len(both[0][1].changed()) == 2
        for _, compared in both:
            compared.close()


def test_elsewhere_python_takes_every_sample(
    monkeypatch: pytest.MonkeyPatch, sources: Sources, program: ObedientThreads, tmp_path: Path
) -> None:
    assert load(tmp_path / "none.so") is None
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert load() is None
    monkeypatch.setattr(sources, "compiled", load())
    reader = sources.process_reader(program.pid)
    assert isinstance(reader, IdleSkippingReader)
    reader.close()


STRUCTS = ["rows", "network", "plan", "walk", "metadata", "frame", "ledgers", "tick"]
STRUCTS += ["kept", "link", "round"]


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_are_those_of_the_source(name: str) -> None:
    found = []
    for source in SOURCES:
        found += re.findall(rf"struct {name} \{{\n(.*?)\n\}};", source.read_text(), re.DOTALL)
    (body,) = found
    code = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    names = [name.strip(" *") for line in re.findall(r"[^;]+;", code) for name in _names(line)]
    kind = getattr(structs, name.upper())
    assert names == list(kind.names)
    assert kind.itemsize == 8 * len(names)


def _names(declaration: str) -> list[str]:
    [(kind, rest)] = re.findall(r"\s*(struct \w+|\w+)\s+(.*);", declaration, re.DOTALL)
    # Eight bytes each: a member of another type is a pointer.
    assert kind == "__u64" or "*" in rest
    names: list[str] = rest.split(",")
    return names


def test_it_is_compiled_from_its_source(tmp_path: Path) -> None:
    made = tmp_path / "made.so"
    command = ["make", "usual-tick", f"USUAL_OUT={made}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert made.read_bytes() == LIBRARY.read_bytes(), "run `make usual-tick`"
