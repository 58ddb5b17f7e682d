"""The order of an experiment's runs, and the journal that it is resumed from."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from experiment_entries import Repeats, beginning, journal
from tidscope_backend.experiments.analysis import found, listed
from tidscope_backend.experiments.definition import Definition, RepeatSpec, read_definition
from tidscope_backend.experiments.journal import (
    JOURNAL,
    Begins,
    Ended,
    Failed,
    Journal,
    Repeated,
    create_folder,
    cut_torn_line,
    experiment_folders,
    is_carried_out,
    read_journal,
)
from tidscope_backend.experiments.matrix import (
    Tally,
    is_steady,
    next_cell,
    repeats_left,
    standings,
    tallies_of,
)
from tidscope_backend.experiments.runner import open_last, open_new
from tidscope_backend.experiments.workload import ExperimentError, Value, workloads_folder

CELLS: list[tuple[dict[str, Value], Repeats]] = [({"size": 1}, [10.0, 11.0]), ({"size": 2}, [20.0])]
FILE = """
version = 1
name = "made"
title = "A made experiment"
[[program]]
workload = "pool-trace"
[matrix]
size = [1, 2]
"""


def written(runs: Path) -> Path:
    _, folder = create_folder(runs, "text")
    file = Journal(folder)
    for entry in journal(CELLS):
        file.write(entry)
    file.close()
    return folder


def definition(folder: Path) -> Definition:
    path = folder / "file.toml"
    path.write_text(FILE)
    return read_definition(path, workloads_folder())


def test_what_is_written_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert read_journal(folder) == journal(CELLS)
    assert experiment_folders(tmp_path) == [folder]
    assert (folder / "experiment.toml").read_text() == "text"


def test_a_torn_line_is_left_out_and_cut(tmp_path: Path) -> None:
    folder = written(tmp_path)
    whole = (folder / JOURNAL).read_bytes()
    for cut in (1, 20, len(whole.rpartition(b"\n")[0].rpartition(b"\n")[2])):
        (folder / JOURNAL).write_bytes(whole[:-cut])
        assert read_journal(folder) == journal(CELLS)[:-1]
    cut_torn_line(folder)
    file = Journal(folder)
    file.write(journal(CELLS)[-1])
    file.close()
    assert (folder / JOURNAL).read_bytes() == whole


def test_lines_of_a_newer_version_are_skipped(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with (folder / JOURNAL).open("a") as file:
        file.write('{"kind": "paused"}\n[]\n{"kind": "failed"}\n\n')
    assert read_journal(folder) == journal(CELLS)


def test_one_process_carries_it_out(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert not is_carried_out(folder)
    file = Journal(folder)
    assert is_carried_out(folder)
    with pytest.raises(ExperimentError, match="by another process"):
        Journal(folder)
    file.close()
    assert not is_carried_out(folder)


def test_who_asks_keeps_nobody_out(tmp_path: Path) -> None:
    """A page asks while an experiment begins: a lock to ask would be in its way now and then."""
    folder = written(tmp_path)
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            is_carried_out(folder)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(2000):
            Journal(folder).close()
    finally:
        ended.set()
        asking.join()


def test_the_list_has_states_and_what_cannot_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (tmp_path / ".experiments" / "x-20260101-000000-abcdef").mkdir()
    experiments, damaged = listed(tmp_path)
    assert [one.state for one in experiments] == ["interrupted"]
    assert damaged == [
        "x-20260101-000000-abcdef: x-20260101-000000-abcdef: cannot be "
        "read: No such file or directory"
    ]
    file = Journal(folder)
    file.write(Begins("size=2", 1, ["t-1-00000000"]))
    (running,), _ = listed(tmp_path)
    assert (running.state, running.cell, running.targets) == (
        "running",
        "size=2",
        ["t-1-00000000"],
    )
    # Size 2 lacks one repeat, and each took 4 s.
    assert (running.least_left, running.left_s) == (2, 8.0)
    file.write(Failed("size=2", 1, 4.0, "it crashed"))
    file.close()
    (cell,) = [one for one in found(folder).cells if one.failures]
    assert (cell.key, cell.failures) == ("size=2", ["it crashed"])
    assert listed(None) == ([], [])
    with pytest.raises(ExperimentError):
        found(tmp_path)


def test_an_unfinished_experiment_of_the_same_file_is_resumed(tmp_path: Path) -> None:
    wanted = definition(tmp_path)
    runs = tmp_path / "runs"
    with pytest.raises(ExperimentError, match="no unfinished experiment made"):
        open_last(wanted, runs)
    opened = open_new(wanted, runs)
    file = Journal(opened.folder)
    file.write(Repeated("size=1", 1, 1.0, [], {"throughput": 5.0}, []))
    file.write(Ended(1, interrupted=True))
    file.close()
    with (opened.folder / JOURNAL).open("a") as torn:
        torn.write('{"kind": "repe')
    again = open_last(wanted, runs)
    assert (again.id, again.done) == (opened.id, 1)
    assert (opened.folder / JOURNAL).read_bytes().endswith(b"\n")
    assert tallies_of(read_journal(opened.folder))["size=1"].values == [5.0]


def test_neither_a_finished_one_nor_one_of_another_file_is_resumed(tmp_path: Path) -> None:
    wanted = definition(tmp_path)
    opened = open_new(wanted, tmp_path)
    (tmp_path / "file.toml").write_text(FILE + "# another one\n")
    other = read_definition(tmp_path / "file.toml", workloads_folder())
    with pytest.raises(ExperimentError, match="no unfinished"):
        open_last(other, tmp_path)
    file = Journal(opened.folder)
    file.write(Ended(1, interrupted=False))
    file.close()
    with pytest.raises(ExperimentError, match="no unfinished"):
        open_last(wanted, tmp_path)


def test_a_journal_without_its_beginning(tmp_path: Path) -> None:
    _, folder = create_folder(tmp_path, "")
    (folder / JOURNAL).write_text('{"kind": "ended", "unix_us": 1, "interrupted": true}\n')
    with pytest.raises(ExperimentError, match="has no beginning"):
        read_journal(folder)
    file = Journal(folder)
    file.write(beginning([{}]))
    file.close()
    with pytest.raises(ExperimentError, match="has no beginning"):
        read_journal(folder)


KEYS = [f"cell-{number}" for number in range(6)]
RULES = RepeatSpec(least=3, most=5, deviation=0.05, seed=7)


def carry_out(
    value: Callable[[str, int], float], rules: RepeatSpec = RULES, done: list[str] | None = None
) -> list[str]:
    """All repeats in their order; `done` are those that are done already."""
    order = list(done or [])
    while True:
        tallies = {key: Tally([value(key, at) for at in range(order.count(key))]) for key in KEYS}
        key = next_cell(tallies, rules)
        if key is None:
            return order
        order.append(key)


def standing(tally: Tally) -> str:
    return standings({"one": tally}, RULES)["one"]


def constant(_: str, __: int) -> float:
    return 100.0


def restless(key: str, at: int) -> float:
    return 100.0 * (1 + at) if key == KEYS[0] else 100.0


def test_each_round_has_every_cell_once_in_an_order_of_its_own() -> None:
    order = carry_out(constant)
    rounds = [order[at : at + 6] for at in range(0, 18, 6)]
    assert len(order) == 18
    assert all(sorted(one) == KEYS for one in rounds)
    assert len({tuple(one) for one in rounds}) == 3


def test_the_order_follows_from_the_seed() -> None:
    assert carry_out(constant) == carry_out(constant)
    assert carry_out(constant) != carry_out(constant, RULES.model_copy(update={"seed": 8}))


def test_what_is_resumed_goes_on_in_the_same_order() -> None:
    whole = carry_out(restless)
    for cut in range(len(whole)):
        assert carry_out(restless, done=whole[:cut]) == whole


def test_a_bound_that_is_never_reached_ends_at_the_maximum() -> None:
    order = carry_out(restless)
    assert [order.count(key) for key in KEYS] == [5, 3, 3, 3, 3, 3]
    tally = Tally([restless(KEYS[0], at) for at in range(5)])
    assert standing(tally) == "maximum"
    assert standing(Tally([100.0] * 3)) == "steady"
    assert standing(Tally([100.0] * 2)) == "open"


def test_cells_that_are_compared_have_equally_many_repeats() -> None:
    steady, unsteady, alone = Tally([100.0] * 3, family="a"), Tally([1.0, 9.0, 5.0], family="a"), ""
    tallies = {"steady": steady, "unsteady": unsteady, "alone": Tally([100.0] * 3, family=alone)}
    assert standings(tallies, RULES) == {"steady": "open", "unsteady": "open", "alone": "steady"}
    assert repeats_left(tallies, RULES) == (2, 4)
    # A started round is completed in all cells: each has a fourth repeat.
    fourth = Tally([100.0] * 4, family="a")
    assert standings({"steady": steady, "fourth": fourth}, RULES)["steady"] == "open"
    # Cells that lag behind a round do not start another one.
    lagging = Tally([100.0] * 2, family="a")
    assert standings({"steady": steady, "lagging": lagging}, RULES)["steady"] == "steady"
    # Nothing more comes of the others: it need not wait.
    given_up = Tally([], failures=3, family="a")
    assert standings({"steady": steady, "other": given_up}, RULES)["steady"] == "steady"
    most = Tally([100.0] * 5, family="a")
    assert standings({"most": most, "unsteady": unsteady}, RULES)["most"] == "steady"


def test_a_cell_that_fails_is_given_up_after_three_times() -> None:
    assert standing(Tally([], failures=2)) == "open"
    assert standing(Tally([100.0], failures=3)) == "failed"
    tallies = {"bad": Tally([], failures=3), "good": Tally([1.0])}
    assert next_cell(tallies, RULES) == "good"
    assert repeats_left(tallies, RULES) == (2, 4)


def test_a_failed_repeat_counts_as_a_turn() -> None:
    tallies = {"bad": Tally([], failures=1), "good": Tally([])}
    assert next_cell(tallies, RULES) == "good"


def test_steadiness_is_of_the_repeats_and_not_of_their_mean() -> None:
    assert is_steady([100, 104, 96], 0.05)
    # More of them narrow the interval of the mean, and change nothing here.
    assert not is_steady([100, 110, 90] * 50, 0.05)
    assert not is_steady([100], 0.05)
    assert not is_steady([], 0.05)


def test_what_is_left() -> None:
    tallies = {"a": Tally([1.0, 5.0, 1.0]), "b": Tally([1.0])}
    assert repeats_left(tallies, RULES) == (1 + 2, 2 + 4)
