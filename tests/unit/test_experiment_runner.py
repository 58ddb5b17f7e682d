"""Experiments carried out with a tidscope that only notes what is asked of it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from backend_builders import steering
from tidscope_backend.cli.experiment import CELL_FAILED, exit_code
from tidscope_backend.experiments import settling
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.building import prepare
from tidscope_backend.experiments.definition import Definition, RepeatSpec, read_definition
from tidscope_backend.experiments.journal import Ended, Entry, Failed, Repeated, read_journal
from tidscope_backend.experiments.matrix import Cell
from tidscope_backend.experiments.over_time import Seconds
from tidscope_backend.experiments.repeat import measure_programs
from tidscope_backend.experiments.report import write_report
from tidscope_backend.experiments.runner import Opened, Runner, open_last, open_new
from tidscope_backend.experiments.workload import ExperimentError, RepeatError, workloads_folder
from tidscope_wire.generated.models import Steering

ANSWERING = Path(__file__).parents[1] / "programs" / "answering_workload"
TIME = "[time]\nsettle_s = 0.0\nwarm_up_s = 0.0\nmeasure_s = 30.0\n"
HEAD = f'version = 1\nname = "made"\ntitle = "Made"\n{TIME}'
ONE = f'{HEAD}[[program]]\nworkload = "{ANSWERING}/"\n'
RULES = "[repeats]\nleast = 2\nmost = 3\n"
MEASURED_S = 0.2


STEERED = steering(size=4, chosen_unix_us=1)


class Noting:
    """Notes what is asked, and refuses the policies that it is to refuse.

    Args:
        refused: name of a policy that cannot steer.
        found: how a target is steered; None: no more.
        silent: whether the policy makes no more decisions; else it makes one before each question.
    """

    def __init__(
        self, refused: str = "", found: Steering | None = STEERED, *, silent: bool = False
    ) -> None:
        self.asked: list[tuple[object, ...]] = []
        self._decisions, self._silent = 0, silent
        self._refused, self._found = refused, found
        self._open: set[str] = set()

    def attach(self, pid: int, *, tree: bool) -> str:
        self._open.add(f"t-{pid}")
        return f"t-{pid}"

    def record(self, target: str, group: str, cell: Cell) -> str:
        self.asked.append(("record", group, cell.key))
        return f"r-20261123-000000-{len(self.asked):06x}"

    def steer(self, target: str, body: Mapping[str, object]) -> None:
        self.asked.append(("steer", dict(body)))
        self._decisions = 0
        if body["policy"] == self._refused:
            raise RepeatError("it cannot be steered")

    def steering(self, target: str) -> Steering | None:
        steered = any(one[0] == "steer" for one in self.asked)
        if self._found is None or not steered:
            return None
        self._decisions += not self._silent
        return self._found.model_copy(update={"decisions": self._decisions})

    def stop(self, run: str) -> None:
        self.asked.append(("stop",))

    def detach(self, target: str) -> None:
        self._open.remove(target)

    def figures(self, run: str) -> Mapping[str, float]:
        return {"mean_cores": 0.5, "power_w": 50.0}

    def seconds(self, run: str) -> Seconds:
        return {"size": [4.0, 6.0], "throughput": [None, 100.0]}

    @property
    def left(self) -> set[str]:
        """Targets that nobody has detached."""
        return self._open


def definition(folder: Path, text: str) -> Definition:
    """An experiment that measures and settles for less time than policies need."""
    path = folder / "made.toml"
    path.write_text(text)
    found = read_definition(path, workloads_folder())
    return replace(
        found,
        time=found.time.model_copy(update={"measure_s": MEASURED_S}),
        settling={
            policy: replace(one, decisions=4, expected_s=0.0)
            for policy, one in found.settling.items()
        },
    )


def carry_out(wanted: Definition, opened: Opened, noting: Noting) -> list[Entry]:
    seen: list[int] = []
    measure = measure_programs(wanted, noting, prepare(wanted))
    runner = Runner(wanted, opened, measure, lambda all_: seen.append(len(all_)))
    entries = runner.run()
    assert seen == list(range(seen[0], len(entries) + 1))
    assert noting.left == set()
    assert read_journal(opened.folder) == entries
    return entries


def test_a_matrix_is_carried_out(tmp_path: Path) -> None:
    text = f"""{ONE}{RULES}
[matrix]
policy = ["default", "fixed"]
size = [1, 2]
[steering]
lower = 1
upper = 8
parameters.fixed = {{ size = 2 }}
"""
    wanted, noting = definition(tmp_path, text), Noting()
    entries = carry_out(wanted, open_new(wanted, tmp_path), noting)
    repeats = [one for one in entries if isinstance(one, Repeated)]
    assert len(repeats) == 8
    assert isinstance(entries[-1], Ended)
    assert not entries[-1].interrupted
    steered = [one[1] for one in noting.asked if one[0] == "steer"]
    body = {"policy": "fixed", "parameters": {"size": 2.0}, "lower": 1, "upper": 8}
    assert steered == [body] * 4
    groups = {(one[1], one[2]) for one in noting.asked if one[0] == "record"}
    assert len(groups) == 4
    found = analyse(entries, carried_out=False)
    assert [one.standing for one in found.cells] == ["steady"] * 4
    figures = {one.name: one.figure.mean for one in found.cells[3].figures}
    assert figures["throughput"] == 200
    assert figures["ops_per_j"] == 200 / 50
    assert figures["ops_per_cpu_s"] == 200 / 0.5
    assert figures["size_at_end"] == 4
    assert figures["chosen_share"] == 1
    # The size is known with the first decision, and kept twice.
    assert (figures["settling_decisions"] or 0) >= 3
    assert (figures["decisions"] or 0) >= 1
    assert "chosen_share" not in {one.name for one in found.cells[0].figures}


def test_programs_of_a_pair_run_together(tmp_path: Path) -> None:
    program = f'[[program]]\nworkload = "{ANSWERING}/"\n'
    wanted, noting = definition(tmp_path, f"{ONE}{program}{RULES}[matrix]\nsize = [2]"), Noting()
    entries = carry_out(wanted, open_new(wanted, tmp_path), noting)
    first = next(one for one in entries if isinstance(one, Repeated))
    assert len(first.runs) == 2
    assert first.figures["throughput"] == pytest.approx(200)
    assert first.figures["throughput_2"] == 200
    assert first.figures["mean_cores"] == 1.0


def test_what_a_policy_refuses_fails_its_cell_alone(tmp_path: Path) -> None:
    text = f'{ONE}{RULES}[matrix]\nsize = [1]\npolicy = ["default", "linear"]'
    wanted, noting = definition(tmp_path, text), Noting(refused="linear")
    entries = carry_out(wanted, open_new(wanted, tmp_path), noting)
    failed = [one for one in entries if isinstance(one, Failed)]
    assert [(one.cell, one.reason) for one in failed] == [
        ("size=1 policy=linear", "it cannot be steered")
    ] * 3
    # Nothing is recorded of what is not steered.
    assert sum(one == ("stop",) for one in noting.asked) == 2


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (
            steering(state="warming up", reason="The program warms up for 2.0 s more."),
            "fixed chose no size of answering within 4 decisions (steering.settle.fixed); its last "
            "state: warming up. The program warms up for 2.0 s more.",
        ),
        (None, "fixed no longer steered answering"),
        (
            steering(chosen_unix_us=1, problem="The agent is gone."),
            "fixed could not steer answering to the end: The agent is gone.",
        ),
    ],
)
def test_a_repeat_without_a_choice_of_its_policy_is_refused(
    tmp_path: Path, now: Steering | None, reason: str
) -> None:
    text = f'{ONE}{RULES}[matrix]\nsize = [1]\npolicy = ["default", "fixed"]'
    wanted, noting = definition(tmp_path, text), Noting(found=now)
    opened = open_new(wanted, tmp_path)
    entries = carry_out(wanted, opened, noting)
    failed = [one for one in entries if isinstance(one, Failed)]
    assert [(one.cell, one.reason) for one in failed] == [("size=1 policy=fixed", reason)] * 3
    found = analyse(entries, carried_out=False)
    assert [one.standing for one in found.cells] == ["steady", "failed"]
    assert not found.cells[1].figures
    assert exit_code(found, ()) == CELL_FAILED
    for page in write_report(opened.folder, found, entries)[:2]:
        assert reason in page.read_text()


COUNTS = f'{ONE}{RULES}[matrix]\nsize = [1]\npolicy = ["fixed"]\n[steering]\nstart = "measurement"'


@pytest.mark.parametrize(
    ("noting", "reason"),
    [
        (
            Noting(found=steering(chosen_unix_us=2**51)),
            "fixed chose no size of answering before the measurement ended; its last state: "
            "settled. It keeps its size.",
        ),
        (
            Noting(silent=True),
            "fixed made no decision about answering while it was measured; its last state: "
            "settled. It keeps its size.",
        ),
    ],
)
def test_a_measurement_without_a_decision_is_refused(
    tmp_path: Path, noting: Noting, reason: str
) -> None:
    wanted = definition(tmp_path, COUNTS)
    entries = carry_out(wanted, open_new(wanted, tmp_path), noting)
    assert [one.reason for one in entries if isinstance(one, Failed)] == [reason] * 3
    (cell,) = analyse(entries, carried_out=False).cells
    assert (cell.figures, cell.standing) == ([], "failed")


class Late(Noting):
    """A policy that chooses a size in the middle of the measurement."""

    def steering(self, target: str) -> Steering | None:
        found = super().steering(target)
        if found is None:
            return None
        if found.decisions == 1 or not hasattr(self, "chosen_us"):
            self.chosen_us = time.time_ns() // 1000 + int(MEASURED_S / 2 * 1e6)
        return found.model_copy(update={"chosen_unix_us": self.chosen_us})


def test_what_came_before_the_first_choice_is_a_share(tmp_path: Path) -> None:
    wanted = replace(
        definition(tmp_path, COUNTS), repeats=RepeatSpec(least=1, most=1, deviation=0.9)
    )
    entries = carry_out(wanted, open_new(wanted, tmp_path), Late())
    (share,) = [one.figures["chosen_share"] for one in entries if isinstance(one, Repeated)]
    assert 0 < share < 1
    said = " ".join(analyse(entries, carried_out=False).cells[0].warnings)
    assert f"the size for {share:.0%} of the measured time" in said


def test_a_policy_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SILENT_S", -1.0)
    rule = settling.SettlingRule(decisions=4, interval_s=0.0, expected_s=0.0)
    now = steering(decisions=0, state="waiting", reason="Nothing came.")
    watched = settling.Settling("fixed", {"t-1": "web"}, lambda _: now, rule)
    with pytest.raises(RepeatError, match="made no decision about web for 0 s; its last state: wa"):
        while not watched.is_done():
            pass


def test_a_policy_that_does_not_rest_is_measured_with_a_warning() -> None:
    rule = settling.SettlingRule(decisions=6, interval_s=2.0, expected_s=0.0)
    steps = iter([steering(decisions=n, size=n, chosen_unix_us=1) for n in range(1, 7)])
    watched = settling.Settling("bidirectional", {"t-1": "web"}, lambda _: next(steps), rule)
    assert [watched.is_done() for _ in range(6)] == [False] * 5 + [True]
    assert list(watched.warnings) == [
        "Unsettled: bidirectional still changed the size of web when the measurement began, after "
        "6 decisions."
    ]


def test_an_interrupted_one_is_carried_on(tmp_path: Path) -> None:
    wanted = definition(tmp_path, f"{ONE}{RULES}[matrix]\nsize = [1, 2]")
    noting = Noting()

    class StopError(Exception):
        pass

    def stop(entries: Sequence[Entry]) -> None:
        if sum(isinstance(one, Repeated) for one in entries) == 1:
            raise StopError

    opened = open_new(wanted, tmp_path)
    with pytest.raises(StopError):
        Runner(wanted, opened, measure_programs(wanted, noting, prepare(wanted)), stop).run()
    again = open_last(wanted, tmp_path)
    assert (again.id, again.done) == (opened.id, 1)
    entries = carry_out(wanted, again, Noting())
    assert sum(isinstance(one, Repeated) for one in entries) == 4
    assert "It was interrupted" in " ".join(analyse(entries, carried_out=False).warnings)


def test_a_missing_trace_is_said_before_anything_runs(tmp_path: Path) -> None:
    text = f'{HEAD}[[program]]\nworkload = "pool-trace"\nlanguage = "python"\ntrace = "none.txt"\n'
    with pytest.raises(ExperimentError, match=r"trace: there is no file .*none\.txt"):
        prepare(definition(tmp_path, text))


def test_what_does_not_build_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = tmp_path / "go"
    compiler.write_text("#!/bin/sh\necho 'it is broken' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = f'{HEAD}[[program]]\nworkload = "parallel"\n'
    with pytest.raises(ExperimentError, match="parallel does not build:\nit is broken"):
        prepare(definition(tmp_path, text))
