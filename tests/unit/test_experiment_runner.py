"""Experiments carried out with a tidscope that only notes what is asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from backend_builders import steering
from tidscope_backend.cli.experiment import CELL_FAILED, exit_code
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.building import prepare
from tidscope_backend.experiments.definition import Definition, read_definition
from tidscope_backend.experiments.journal import Ended, Entry, Failed, Repeated, read_journal
from tidscope_backend.experiments.matrix import Cell
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
        found: how a target is steered in the end; None: no more.
    """

    def __init__(self, refused: str = "", found: Steering | None = STEERED) -> None:
        self.asked: list[tuple[object, ...]] = []
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
        if body["policy"] == self._refused:
            raise RepeatError("it cannot be steered")

    def steering(self, target: str) -> Steering | None:
        steered = any(one[0] == "steer" for one in self.asked)
        return self._found if steered else None

    def stop(self, run: str) -> None:
        self.asked.append(("stop",))

    def detach(self, target: str) -> None:
        self._open.remove(target)

    def figures(self, run: str) -> Mapping[str, float]:
        return {"mean_cores": 0.5, "power_w": 50.0}

    @property
    def left(self) -> set[str]:
        """Targets that nobody has detached."""
        return self._open


def definition(folder: Path, text: str) -> Definition:
    path = folder / "made.toml"
    """An experiment that measures for less time than its file says, which policies need."""
    path.write_text(text)
    found = read_definition(path, workloads_folder(), quick=False)
    return replace(found, time=found.time.model_copy(update={"measure_s": MEASURED_S}))


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
    # Started programs end, also after a failed repeat.
    assert sum(one == ("stop",) for one in noting.asked) == 2 + 3


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (
            steering(state="warming up", reason="The program warms up for 2.0 s more."),
            "fixed chose no size of answering before the measurement ended; its last state: "
            "warming up. The program warms up for 2.0 s more.",
        ),
        (None, "fixed no longer steered answering when the measurement ended"),
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


def test_what_came_before_the_first_choice_is_a_share(tmp_path: Path) -> None:
    """The choice comes when the measurement is over: nothing of it was the policy's."""
    text = f'{ONE}{RULES}[matrix]\nsize = [1]\npolicy = ["fixed"]'
    late = Noting(found=steering(chosen_unix_us=2**51))
    wanted = definition(tmp_path, text)
    entries = carry_out(wanted, open_new(wanted, tmp_path), late)
    shares = [one.figures["chosen_share"] for one in entries if isinstance(one, Repeated)]
    assert shares == [0, 0]
    said = " ".join(analyse(entries, carried_out=False).cells[0].warnings)
    assert "the size for 0% of the measured time" in said


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
