"""Experiment files: what is right in one, and how mistakes are named."""

import os
from pathlib import Path

import pytest
from tidscope_backend.cli.experiment import PLACES
from tidscope_backend.experiments.definition import Definition, Preset, read_definition
from tidscope_backend.experiments.matrix import MAX_GROUP, Cell, baseline_of, cells_of, group_name
from tidscope_backend.experiments.settling import SettlingRule
from tidscope_backend.experiments.workload import (
    ExperimentError,
    read_workload,
    workload_names,
    workloads_folder,
)

GOOD = """
version = 1
name = "a-name"
title = "A title"
[[program]]
workload = "pool-trace"
language = "python"
[matrix]
policy = ["default", "linear"]
size = [1, 2]
free_workload = [10, 2.5]
[steering]
upper = 8
parameters.linear = { interval_s = 1, warm_up_s = 0 }
[quick]
time = { warm_up_s = 0, measure_s = 9 }
matrix.size = [2]
"""
CPUS = frozenset({0, 1})


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ready files are sized for two CPUs: on more, a search takes longer."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: CPUS)


def read(folder: Path, text: str, *, preset: Preset = "full") -> Definition:
    path = folder / "file.toml"
    path.write_text(text)
    return read_definition(path, workloads_folder(), preset=preset)


def mistake(folder: Path, text: str) -> str:
    with pytest.raises(ExperimentError) as caught:
        read(folder, text)
    assert str(caught.value).startswith(str(folder / "file.toml"))
    return str(caught.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert [cell.key for cell in cells_of(found)][:3] == [
        "policy=default size=1 free_workload=10",
        "policy=default size=1 free_workload=2.5",
        "policy=default size=2 free_workload=10",
    ]
    assert len(cells_of(found)) == 8
    assert found.steering.parameters == {"linear": {"interval_s": 1.0, "warm_up_s": 0.0}}
    (program,) = found.programs
    assert program.values["language"] == "python"
    assert Path(str(program.values["trace"])).is_file()


def test_quick_changes_times_repeats_and_axes(tmp_path: Path) -> None:
    quick = read(tmp_path, GOOD, preset="quick")
    assert len(cells_of(quick)) == 4
    assert quick.time.measure_s < read(tmp_path, GOOD).time.measure_s
    assert quick.repeats.most == 2


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("version = 1", "version = 2", "version"),
        ('title = "A title"', "", "title: is missing; add it"),
        ("[steering]", "[steering]\nlowest = 1", "steering.lowest: is no key"),
        ("upper = 8", 'upper = "8"', "steering.upper"),
        ('["default", "linear"]', '["linaer"]', "matrix.policy: 'linaer': is no policy; use"),
        ("size = [1, 2]", "size = [0]", "matrix.size: 0: use whole numbers"),
        ("size = [1, 2]", "size = [1, 1]", "matrix.size: has no value, or one twice"),
        (
            "[steering]",
            'placement = ["beside"]\n[steering]',
            "matrix.placement: 'beside': use shared or",
        ),
        (
            "[steering]",
            "widths = [1]\n[steering]",
            "matrix.widths: is no axis; use one of policy, size",
        ),
        ("[10, 2.5]", "[-1]", "matrix.free_workload: -1: use a number from 0 to 10000"),
        ("[10, 2.5]", "[true]", "matrix.free_workload: True: use a number from 0 to 10000"),
        ('"python"', '"perl"', "program.0.language: 'perl': use one of go, python, java"),
        ("language", "tongue", "program.0.tongue: is no parameter of pool-trace"),
        ('"pool-trace"', '"pool"', "program.0.workload: there is no workload 'pool'; use one of"),
        ('"pool-trace"', '"./mine"', "program.0.workload: there is no workload './mine'"),
        ("matrix.size = [2]", "matrix.sizes = [2]", "quick.matrix.sizes: is no axis"),
        ("linear =", "linaer =", "steering.parameters.linaer: is no policy"),
        ('name = "a-name"', 'name = "A name"', "name"),
        ("[matrix]", "[matrix", "is not TOML"),
    ],
)
def test_a_mistake_names_file_key_and_what_to_do(
    tmp_path: Path, change: str, to: str, said: str
) -> None:
    assert change in GOOD
    assert said in mistake(tmp_path, GOOD.replace(change, to, 1))


def test_all_mistakes_of_the_form_are_named_at_once(tmp_path: Path) -> None:
    text = mistake(tmp_path, GOOD.replace("version = 1", "versions = 1"))
    assert "version: is missing" in text
    assert "versions: is no key" in text


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot be read"):
        read_definition(tmp_path / "none.toml", workloads_folder())


LONG = {"thesis-web", "thesis-kv", "policies-pair", "pool-dynamic"}
"""Files with times of their sources or a long search; their short variants take 15 minutes."""


@pytest.mark.parametrize("preset", ["full", "short", "quick"])
def test_the_ready_files_are_right(preset: Preset) -> None:
    places = [place for place in PLACES if place.is_dir()]
    files = [path for place in places for path in sorted(place.glob("*.toml"))]
    assert {path.stem for path in files} > LONG
    for path in files:
        if preset == "short" and path.stem not in LONG:
            continue
        found = read_definition(path, workloads_folder(), preset=preset)
        assert found.name == path.stem
        repeats = len(cells_of(found)) * found.repeats.least
        length_s = repeats * (found.warm_up_s + found.time.measure_s + 2)
        longest_s = 75 if preset == "quick" else 900
        assert length_s < (7200 if preset == "full" and path.stem in LONG else longest_s), path


@pytest.mark.parametrize("preset", ["full", "quick"])
def test_the_example_of_the_docs_is_right(tmp_path: Path, preset: Preset) -> None:
    text = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    blocks = [one.split("```")[0] for one in text.split("```toml\n")[1:]]
    assert [read(tmp_path, one, preset=preset).name for one in blocks] == ["pool-size", "collector"]


def test_the_workloads_are_right() -> None:
    names = workload_names(workloads_folder())
    assert {"web", "pool-trace", "parallel", "kv", "echo", "find"} <= set(names)
    assert {"postgres", "disk", "net", "get"} <= set(names)
    for name in names:
        workload = read_workload(workloads_folder() / name)
        assert workload.name == name
        required = [one for one, spec in workload.spec.parameters.items() if spec.is_required]
        values = {**workload.defaults(), **dict.fromkeys(required, "given")}
        choices = workload.spec.parameters[workload.chooser].choices if workload.chooser else [""]
        for choice in choices or ():
            program = workload.program({**values, workload.chooser: choice})
            known = {**values, "size": 1, "upper": 2, "warm_up_s": 0.5, "measure_s": 1.5}
            for text in (*program.arguments, *program.environment.values()):
                assert "{" not in text.format(**known)
            assert (workload.folder / program.folder).is_dir()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[parameters.size]\nabout = 'a'\nleast = 1\nmost = 2\ndefault = 1", "size: has a meaning"),
        ("[parameters.one]\nabout = 'a'\ndefault = 1", "has to have choices, or least and most"),
        ("[parameters.one]\nabout = 'a'\nleast = 1\nmost = 2", "has to have a default"),
        ("[parameters.one]\nabout = 'a'\ntext = true\nfolder = true", "has to have choices, or"),
        ("[parameters.one]\nabout = 'a'\ntext = true\ndefault = 'b'", "texts have none; remove it"),
    ],
)
def test_a_wrong_workload_is_refused(tmp_path: Path, text: str, said: str) -> None:
    head = 'name = "mine"\nabout = "a"\nunit = "jobs"\nknob = "workers"\n'
    program = '[program]\nbuild = "python"\nfolder = "."\nmain = "main.py"\n'
    (tmp_path / "workload.toml").write_text(head + program + text)
    with pytest.raises(ExperimentError, match=said):
        read_workload(tmp_path)


MEASURED = GOOD.replace("[steering]", '[steering]\nstart = "measurement"')


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        # A warm-up of 10 s, then sizes 8 to 2.
        ("interval_s = 1, warm_up_s = 0", "", "time.measure_s: 10: linear chooses a size first"),
        ("interval_s = 1, warm_up_s = 0", "interval_s = 1, warm_up_s = 3", "first 10 s after it"),
        (
            "upper = 8\nparameters.linear = { interval_s = 1",
            "upper = 4096\nparameters.linear = { interval_s = 2",
            "over 3600 s after it begins",
        ),
        ("interval_s = 1, warm_up_s = 0", "warm_ups = 2", "steering.parameters.linear: "),
        ("upper = 8", "upper = 8\nlower = 9", "steering: bounds 9 to 8"),
    ],
)
def test_a_policy_that_cannot_choose_in_time_is_refused(
    tmp_path: Path, change: str, to: str, said: str
) -> None:
    assert said in mistake(tmp_path, MEASURED.replace(change, to, 1))


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        # Sizes 8 to 2, then the best.
        ("upper = 8", "upper = 8\nsettle.linear = 7", "steering.settle.linear: 7: linear chooses"),
        ("upper = 8", "upper = 8\nsettle.linaer = 9", "steering.settle.linaer: is no policy"),
        (
            "upper = 8\nparameters.linear = { interval_s = 1",
            "upper = 4096\nparameters.linear = { interval_s = 2",
            "steering.parameters.linear: linear chooses a size first over 3600 s after it begins",
        ),
        ("interval_s = 1,", "interval_s = 6,", "time.measure_s: 10: linear decides every 6 s"),
    ],
)
def test_a_policy_that_cannot_settle_is_refused(
    tmp_path: Path, change: str, to: str, said: str
) -> None:
    assert said in mistake(tmp_path, GOOD.replace(change, to, 1))


def test_all_cells_warm_up_for_as_long_as_the_slowest_policy(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    # The search ends with decision 8, and the next one keeps the size.
    assert found.settling == {"linear": SettlingRule(18, 1.0, 9.0)}
    assert (found.time.warm_up_s, found.warm_up_s) == (2.0, 9.0)
    both = read(tmp_path, GOOD.replace('["default", "linear"]', '["linear", "bidirectional"]'))
    # It never rests, and may cross the eight sizes and come back.
    assert both.settling["bidirectional"] == SettlingRule(16, 2.0, 32.0)
    assert both.warm_up_s == 32.0
    assert read(tmp_path, MEASURED).warm_up_s == 2.0


def test_a_variant_of_a_file_is_checked_by_its_own_settings(tmp_path: Path) -> None:
    text = GOOD.replace("measure_s = 9", "measure_s = 1")
    read(tmp_path, text)
    with pytest.raises(ExperimentError, match=r"quick: time\.measure_s: 1: linear decides every 1"):
        read(tmp_path, text, preset="quick")
    faster = f"{text}steering.parameters.linear = {{ interval_s = 0.5, warm_up_s = 0 }}\n"
    assert read(tmp_path, faster, preset="quick").settling["linear"].interval_s == 0.5
    with pytest.raises(ExperimentError, match="short: is missing; leave out --short"):
        read(tmp_path, text, preset="short")
    short = f"{text}[short]\ntime.measure_s = 3\nmatrix.size = [1]\nrepeats.least = 1\n"
    assert len(cells_of(read(tmp_path, short, preset="short"))) == 4


MINE = """
name = "mine"
about = "A program of ours."
unit = "jobs"
knob = "none"
[program]
build = "python"
folder = "."
[parameters.command]
about = "words"
text = true
[parameters.source]
about = "folder of sources"
folder = true
"""


def of_mine(folder: Path, given: str) -> str:
    """An experiment with a workload whose parameters have no default."""
    (folder / "mine").mkdir()
    (folder / "mine" / "workload.toml").write_text(MINE)
    return f'version = 1\nname = "a"\ntitle = "A"\n[[program]]\nworkload = "./mine"\n{given}'


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "program.0.command: is missing; add it: words"),
        ('command = " "', "program.0.command: ' ': write some text"),
        ('command = "make"', "program.0.source: is missing; add it: folder of sources"),
        ('command = "make"\nsource = 1', "program.0.source: 1: use the path of a folder"),
    ],
)
def test_what_has_no_default_has_to_be_given(tmp_path: Path, given: str, said: str) -> None:
    assert said in mistake(tmp_path, of_mine(tmp_path, given))


def test_folders_start_at_the_file(tmp_path: Path) -> None:
    text = of_mine(tmp_path, 'command = "true"\nsource = "a/../b"\n')
    (one,) = read(tmp_path, text).programs
    assert one.values["source"] == str(tmp_path / "b")


def test_the_baseline_differs_in_the_policy_only() -> None:
    cells = [Cell({"policy": p, "size": s}) for p in ("default", "linear") for s in (1, 2)]
    assert baseline_of(cells[3], cells) == cells[1]
    assert baseline_of(cells[0], cells) is None
    assert baseline_of(cells[2], cells[1:]) is None


def test_the_baseline_of_a_change_is_before_it() -> None:
    cells = [Cell({"variant": v, "size": s}) for v in ("before", "after") for s in (1, 2)]
    assert [baseline_of(one, cells) for one in cells] == [None, None, cells[0], cells[1]]


def test_groups_of_long_names_are_short_and_differ() -> None:
    cells = [Cell({"framework": "f" * 90, "size": size}) for size in (1, 2)]
    names = {group_name("x-20260101-000000-abcdef", "name", cell) for cell in cells}
    assert len(names) == 2
    assert max(map(len, names)) <= MAX_GROUP
    assert all(name.startswith("name abcdef: ") for name in names)


def test_what_cannot_be_steered_takes_no_policy(tmp_path: Path) -> None:
    text = GOOD.replace('workload = "pool-trace"\nlanguage = "python"', 'workload = "disk"')
    said = mistake(tmp_path, text.replace("free_workload = [10, 2.5]\n", ""))
    assert "matrix.policy: 'linear': nothing steers disk while it runs; use default" in said
