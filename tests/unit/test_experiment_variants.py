"""Experiments with variants: their files, what they do next, and their verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_entries import beginning, repeat
from tidscope_backend.cli.variant_runs import quantile_of, runs_for
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.definition import Definition, Preset, read_definition
from tidscope_backend.experiments.difference import DifferenceRules
from tidscope_backend.experiments.journal import Ended, Entry, Failed, Recorded, Repeated
from tidscope_backend.experiments.plan import Step, plan_of
from tidscope_backend.experiments.report import markdown, page
from tidscope_backend.experiments.variants import compared_figure
from tidscope_backend.experiments.workload import ExperimentError, Value, workloads_folder

HEAD = 'version = 1\nname = "made"\ntitle = "Made"\n'
TWO = f'{HEAD}[[variant]]\nname = "old"\ncommand = ["true"]\n[[variant]]\nname = "new"\n'
RULES = DifferenceRules("wall_s", "Wall time", "s", "less", 2.0, None, 60.0, 2)
CELLS: list[dict[str, Value]] = [{"variant": "old"}, {"variant": "new"}]
OLD, NEW = "variant=old", "variant=new"


def read(folder: Path, text: str, *, preset: Preset = "full") -> Definition:
    path = folder / "made.toml"
    path.write_text(text)
    return read_definition(path, workloads_folder(), preset=preset)


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    text = f"""{HEAD}
[[variant]]
name = "before"
command = ["./bench", "--size", "10"]
directory = "src"
revision = "v1.0"
prepare = ["make"]
[[variant]]
name = "after"
environment = {{ GOGC = "200" }}
[difference]
metric = "rate:more=/rate ([0-9.]+)/"
margin = 1.0
most_s = 30
seed = 7
"""
    found = read(tmp_path, text)
    assert found.axes == {"variant": ["before", "after"]}
    assert found.variants is not None
    before, after = found.variants.variants
    assert (after.command, after.prepare) == (before.command, ["make"])
    assert (before.directory, after.directory) == (tmp_path / "src", tmp_path / "src")
    assert (before.revision, after.revision) == ("v1.0", None)
    assert (before.environment, after.environment) == ({}, {"GOGC": "200"})
    assert (found.variants.rules.figure, found.variants.rules.better) == ("result:rate", "more")
    assert found.repeats.seed == 7
    quick = read(tmp_path, text, preset="quick")
    assert quick.variants is not None
    assert quick.variants.rules.most_s == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "either [[program]] or [[variant]]"),
        (f'{TWO}[[program]]\nworkload = "get"\n', "either [[program]] or [[variant]]"),
        (f'{HEAD}[[variant]]\nname = "a"\ncommand = ["true"]\n', "needs two or more"),
        (f'{HEAD}[[variant]]\nname = "a"\n[[variant]]\nname = "b"\n', "variant.0.command: is mis"),
        (TWO.replace('"new"', '"old"'), "a name is used twice"),
        (f'{TWO}command = "true"\n', "variant.1.command"),
        (f"{TWO}command = []\n", "variant.1.command"),
        (f'{TWO}revision = "--output=x"\n', "variant.1.revision: begins with -"),
        (f'{TWO}environment = {{ "A=B" = "1" }}\n', "is no name of a variable"),
        (f"{TWO}shell = true\n", "variant.1.shell: is no key that is known here"),
        (f"{TWO}[matrix]\nsize = [1]\n", "has matrix beside [[variant]]"),
        (f"{TWO}[time]\nmeasure_s = 1\n", "has time beside [[variant]]"),
        (f'{HEAD}[[program]]\nworkload = "get"\n[difference]\n', "has difference beside"),
        (f'{TWO}[difference]\nmetric = "nonsense"\n', "difference.metric: 'nonsense' is no metric"),
        (f'{TWO}[difference]\nmetric = "n=/x/"\n', "needs one group"),
        (f'{TWO}[difference]\nmetric = "n=/(x)/"\n', "has no direction"),
        (f"{TWO}[difference]\nmargin = 0\n", "difference.margin"),
        (f"{TWO}[difference]\nrecorded = 5\n", "difference.recorded"),
    ],
)
def test_a_mistake_names_file_key_and_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(str(tmp_path / "made.toml"))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "name", "better", "recorded"),
    [
        ("wall", "wall_s", "less", False),
        ("rss", "peak_rss_bytes", "less", False),
        ("wall:more", "wall_s", "more", False),
        ("wall-p99", "wall_p99_s", "less", False),
        (
            "prometheus:9100:/m?x=1#a:b_total",
            "prometheus:9100:/m?x=1#a:b_total",
            "more",
            False,
        ),
        ("prometheus:9100:/m#lost_total:less", "prometheus:9100:/m#lost_total", "less", False),
        ("go-bench", "go_bench_ns", "less", False),
        ("n:more=/n: ([0-9]+)/", "result:n", "more", False),
        ("ops=/([0-9]+)/", "result:ops", "more", False),
        ("cpu_delay_ns", "cpu_delay_ns", "less", True),
        ("mean_cores:less", "mean_cores", "less", True),
        ("ops_per_s", "ops_per_s", "more", True),
        ("lock:main.mu", "lock:main.mu", "less", True),
        ("pool:http:response_p99", "pool:http:response_p99", "less", True),
        ("pool:http:finished", "pool:http:finished", "more", True),
    ],
)
def test_metrics(text: str, name: str, better: str, recorded: bool) -> None:
    found = compared_figure(text)
    assert (found.name, found.better, found.is_recorded) == (name, better, recorded)


@pytest.mark.parametrize("text", ["prometheus:99999:/m#a", "prometheus:80#a", "prometheus:x"])
def test_a_counter_is_written_with_port_path_and_name(text: str) -> None:
    with pytest.raises(ValueError, match="use PORT:PATH#NAME"):
        compared_figure(text)


def test_a_block_has_a_run_beyond_its_quantile() -> None:
    assert [runs_for(0.5), runs_for(0.99)] == [10, 100]
    times = [0.001 * number for number in range(1, 101)]
    assert quantile_of(times, 0.5) == pytest.approx(0.0505)
    assert 0.099 < quantile_of(times, 0.99) < 0.1


@pytest.mark.parametrize("text", ["mean_cores", "n=3", "n:less=3", "", "lock:", "pool:p99"])
def test_what_is_no_metric_or_has_no_direction_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no metric|direction|regular expression"):
        compared_figure(text)


def measured(cell: str, wall_s: float) -> Repeated:
    """A repeat without a recording."""
    return replace(repeat(cell, {"throughput": 1 / wall_s, "wall_s": wall_s}), runs=[])


def entries(walls: Sequence[tuple[float, float]], rules: DifferenceRules = RULES) -> list[Entry]:
    """A journal with a round for each pair; a repeat lasts four seconds."""
    found: list[Entry] = [beginning(CELLS, difference=rules, unit="runs", waits=False)]
    for before, after in walls:
        for cell, wall_s in ((OLD, before), (NEW, after)):
            found.append(measured(cell, wall_s))
    return found


def steps(made: list[Entry], figures: Mapping[str, float], count: int) -> list[str]:
    """The cells that are run next, with what their repeats measure."""
    found: list[str] = []
    for _ in range(count):
        step = plan_of(made).step
        if step is None or step.recorded:
            break
        found.append(step.cell)
        made.append(measured(step.cell, figures[step.cell]))
    return found


def test_each_round_has_every_variant_once_in_random_order() -> None:
    rules = replace(RULES, precision=1e-9, most_s=1e6)
    orders = []
    for seed in range(20):
        first = beginning(CELLS, difference=rules, seed=seed)
        made: list[Entry] = [first]
        found: list[str] = []
        for number in range(8):
            # Values that vary, so that no interval is as narrow as asked.
            found += steps(made, {OLD: 1.0 + number % 3, NEW: 2.0}, 2)
        rounds = [tuple(found[at : at + 2]) for at in range(0, len(found), 2)]
        assert all(set(one) == {OLD, NEW} for one in rounds)
        orders += rounds
    assert 40 < orders.count((OLD, NEW)) < 120


def test_it_ends_when_the_verdict_stands_and_records_then() -> None:
    made = entries([])
    found = steps(made, {OLD: 1.0, NEW: 2.0}, 100)
    assert len(found) == 8
    assert plan_of(made).standings == {OLD: "steady", NEW: "steady"}
    recorded: list[str] = []
    while (step := plan_of(made).step) is not None:
        assert step.recorded
        recorded.append(step.cell)
        made.append(Recorded(step.cell, 1, [f"r-20261123-00000{len(recorded)}-abcdef"], ""))
    assert sorted(recorded) == sorted([OLD, NEW] * 2)
    shown = analyse([*made, Ended(1, interrupted=False)], carried_out=False)
    (verdict,) = shown.verdicts
    assert (verdict.verdict, verdict.pairs) == ("worse", 4)
    assert verdict.difference_percent == pytest.approx(100)
    assert verdict.interval == pytest.approx([100, 100])
    assert verdict.text.startswith("new is worse than old. Wall time, less is better: +100.0 % [")
    assert [len(cell.runs) for cell in shown.cells] == [2, 2]
    assert verdict.text in markdown(shown)
    assert "new is worse than old" in page(shown)


def test_a_problem_ends_recording() -> None:
    made = entries([(1.0, 2.0)] * 4)
    assert plan_of(made).step in (Step(OLD, recorded=True), Step(NEW, recorded=True))
    made.append(Recorded(OLD, 1, [], "no collector"))
    assert plan_of(made).step is None


def test_the_time_is_up_after_whole_rounds() -> None:
    rules = replace(RULES, recorded=0)
    # Rounds of 8 s in 60 s: the eighth would end after them.
    undecided = [(1.0, 1.3), (1.3, 1.0)] * 4
    assert plan_of(entries(undecided[:6], rules)).step is not None
    assert plan_of(entries(undecided[:7], rules)).step is None
    half = entries(undecided[:7], rules)[:-1]
    assert plan_of(half).step == Step(NEW)
    made = [*entries(undecided[:7], rules), Ended(1, interrupted=False)]
    (verdict,) = analyse(made, carried_out=False).verdicts
    assert verdict.verdict == "undecided"
    assert "The time was up" in verdict.reason
    assert verdict.text.startswith("It is undecided whether new differs from old.")
    assert plan_of(made).standings == {OLD: "maximum", NEW: "maximum"}


def test_without_a_time_long_commands_have_eight_rounds() -> None:
    rules = replace(RULES, most_s=None, recorded=0)
    undecided = [(1.0, 1.3), (1.3, 1.0)] * 20
    # Two minutes have 15 rounds of 8 s.
    assert plan_of(entries(undecided[:14], rules)).step is not None
    assert plan_of(entries(undecided[:15], rules)).step is None

    def slow(rounds: int) -> list[Entry]:
        return [
            replace(one, elapsed_s=30.0) if isinstance(one, Repeated) else one
            for one in entries(undecided[:rounds], rules)
        ]

    assert plan_of(slow(7)).step is not None
    assert plan_of(slow(8)).step is None


def test_a_variant_that_fails_three_times_ends_it() -> None:
    made = [*entries([]), *[Failed(NEW, 1, 1.0, "new: ended with exit code 1")] * 3]
    assert plan_of(made).step in (None, Step(OLD, recorded=True))
    (verdict,) = analyse([*made, Ended(1, interrupted=False)], carried_out=False).verdicts
    assert (verdict.verdict, verdict.interval, verdict.pairs) == ("undecided", None, 0)
    assert verdict.reason == "variant=new failed too often."


def test_equal_programs_are_the_same() -> None:
    made = entries([(1.0, 1.001), (1.0, 0.999), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)])
    (verdict,) = analyse([*made, Ended(1, interrupted=False)], carried_out=False).verdicts
    assert verdict.verdict == "same"
    assert verdict.text.startswith("new is the same as old within ±2 %.")


def test_while_it_runs_the_verdict_is_open() -> None:
    (verdict,) = analyse(entries([(1.0, 2.0)]), carried_out=True).verdicts
    assert (verdict.verdict, verdict.interval) == ("open", None)
    assert verdict.reason == "1 pair of runs; an interval needs 4."


def test_too_little_time_is_said_with_how_much_is_needed() -> None:
    rules = replace(RULES, most_s=10.0, recorded=0)
    made = entries([(1.0, 2.0)], rules)
    assert plan_of(made).step is None
    (verdict,) = analyse([*made, Ended(1, interrupted=False)], carried_out=False).verdicts
    assert verdict.verdict == "undecided"
    assert verdict.interval is None
    assert verdict.difference_percent == pytest.approx(100)
    # Two repeats of four seconds are a pair.
    assert verdict.reason.endswith("an interval needs 4. Give more time: they take 32 s.")


def test_a_matrix_of_settings_has_no_verdicts() -> None:
    assert analyse([beginning([{"size": 1}])], carried_out=True).verdicts == []
