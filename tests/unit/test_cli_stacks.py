"""`tidscope stacks`: the tree in the terminal, folded text, and what cannot be shown."""

import json
from pathlib import Path

import pytest
from run_folders import run_folder
from sampled_story import FIELDS, FUTEX, sampled_story
from tidscope_backend.cli import main
from tidscope_backend.cli.stacks_text import FEW_SAMPLES, duration, folded_lines, tree_lines
from tidscope_wire.generated.models import (
    StackCounts,
    StackFrame,
    StackGraph,
    StackNode,
)

RUN = "r-20261121-120000-00000a"
STORY = sampled_story(250, 1, weights=(1, 2))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one run that has stacks."""
    home = tmp_path_factory.mktemp("runs")
    folder = run_folder(home / RUN, [STORY.frames], FIELDS, 1)
    ended = {"id": RUN, "state": "complete", "end": "stopped", "name": "bank"}
    folder.write_manifest(folder.read_manifest().model_copy(update=ended))
    return home


def output(
    capsys: pytest.CaptureFixture[str], runs: Path, *arguments: str, code: int = 0
) -> list[str]:
    assert main(["stacks", "--run", *arguments, "--runs-dir", str(runs)]) == code
    return capsys.readouterr().out.splitlines()


def test_a_run_as_a_tree(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    lines = output(capsys, runs, "bank@5-20", "--state", "futex")
    graph = StackGraph.model_validate_json(
        "".join(output(capsys, runs, "bank@5-20", "--state", "futex", "--json"))
    )
    truth = STORY.truth(graph.from_ns, graph.to_ns, lambda stay: stay.state == FUTEX)
    exact = duration(truth["main",])
    assert lines[0] == f"futex: {exact} in 15.0 s, {graph.samples} samples"
    assert lines[2].split() == ["time", "95", "%", "interval", "n", "code"]
    first, second = lines[3:5]
    assert first.startswith(f"{exact:>11}  ")
    assert first.endswith("  main  bank.c:90")
    assert second.endswith("    serve  bank.c:70")
    assert any("pthread_mutex_lock  [libc.so.6]" in line for line in lines)


def test_folded_stacks_of_a_thread(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    lines = output(capsys, runs, "bank", "--thread", "201", "--folded")
    stacks = dict(line.rsplit(" ", 1) for line in lines)
    assert "main;serve;compute;round;scale" in stacks
    assert all(int(ns) > 0 for ns in stacks.values())
    life = (STORY.ledger.times[-1] - STORY.ledger.times[0]) / 1e9
    assert sum(map(int, stacks.values())) / 1e9 == pytest.approx(life, abs=1e-6)


@pytest.mark.parametrize("lock", ["7", "pool_mu", "pool"])
def test_a_lock_by_name_or_number(
    capsys: pytest.CaptureFixture[str], runs: Path, lock: str
) -> None:
    released = output(capsys, runs, "bank@5-20", "--lock", lock, "--side", "releasers")
    assert released[0].startswith(f"lock {lock}, by who released: ")
    assert released[-1].endswith("unlock_all  bank.c:33")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bank", "--lock", "other"], "no locks are called 'other'; name one of pool_mu"),
        (["bank", "--state", "waiting"], "no state is called 'waiting'"),
        (["bank", "--lock", "7", "--state", "poll"], "a lock selects its own waits"),
        (["bank@20-5"], "the window 20-5 ends before it begins"),
        (["unknown"], "is called 'unknown'"),
    ],
)
def test_what_cannot_be_shown(
    capsys: pytest.CaptureFixture[str], runs: Path, arguments: list[str], message: str
) -> None:
    assert main(["stacks", "--run", *arguments, "--runs-dir", str(runs)]) == 1
    assert message in capsys.readouterr().err


def test_a_window_without_stacks_says_so(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    lines = output(capsys, runs, "bank", "--state", "child", code=1)
    assert lines[1].startswith("The selected threads spent no time")


@pytest.mark.parametrize("arguments", [[], ["--run", "x", "--pid", "1"]])
def test_a_process_or_a_run_is_named(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["stacks", *arguments])


def frame(function: str) -> StackFrame:
    return StackFrame(
        kind="native", function=function, file="", line=0, module="", inlined=False, named=True
    )


def node(parent: int, place: int, ns: float) -> StackNode:
    return StackNode(
        parent=parent, frame=place, ns=ns, self_ns=0, low_ns=ns / 2, high_ns=ns * 2, samples=3
    )


COUNTS = StackCounts(taken=0, without_stack=0, beyond_limit=0, no_room=0, beyond_bound=0, unasked=0)
GRAPH = StackGraph(
    from_ns=0,
    to_ns=2 * 10**9,
    side="threads",
    exact_ns=2e9,
    unseen_ns=5e8,
    samples=3,
    frames=[frame("main"), frame("a;b"), frame("c")],
    nodes=[node(-1, 0, 1.5e9), node(0, 1, 1.4e9), node(0, 2, 2e6)],
    omitted_nodes=4,
    counts=COUNTS,
    sampling=None,
    reason="",
)


def test_a_tree_says_what_it_leaves_out() -> None:
    lines = list(tree_lines(GRAPH, "futex", 0.01))
    assert lines[1] == "500.000 ms of it (25%) without a known stack"
    assert [line.split()[-1] for line in lines[4:6]] == ["main", "a;b"]
    assert lines[6].startswith("5 narrower than 1.0% are not shown")
    assert lines[7].startswith("3 samples only")
    assert FEW_SAMPLES > 3
    assert len(list(tree_lines(GRAPH, "futex", 0.0))) == len(lines) + 1


def test_folded_text_has_all_of_the_time() -> None:
    lines = list(folded_lines(GRAPH))
    assert lines == [
        "main 98000000",
        "main;a:b 1400000000",
        "main;c 2000000",
        "[unseen] 500000000",
    ]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == GRAPH.exact_ns


def test_the_graph_is_json(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    (line,) = output(capsys, runs, "bank", "--json")
    assert json.loads(line)["side"] == "threads"


@pytest.mark.parametrize(
    ("ns", "text"), [(1.5e9, "1.500 s"), (2.25e6, "2.250 ms"), (900, "0.9 µs")]
)
def test_durations(ns: float, text: str) -> None:
    assert duration(ns) == text
