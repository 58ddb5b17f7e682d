"""Output and exit codes of `tidscope experiment`."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from experiment_entries import journal, repeat
from tidscope_backend.cli import main
from tidscope_backend.cli.experiment import exit_code, ready_names, result_lines
from tidscope_backend.cli.experiment_run import Progress, duration_text
from tidscope_backend.experiments.analysis import analyse
from tidscope_backend.experiments.journal import Failed
from tidscope_backend.experiments.report import decide, parse_bound

ENTRIES = journal(
    [({"policy": "default"}, [100.0, 101.0]), ({"policy": "linear"}, [89.9, 91.1])], quick=True
)


def test_the_result_is_a_line_for_each_cell() -> None:
    failed = [Failed("policy=linear", 1, 1.0, "it crashed")] * 3
    lines = result_lines(analyse(ENTRIES, carried_out=False))
    assert lines[0] == "A made experiment"
    (linear,) = [line for line in lines if line.startswith("policy=linear")]
    assert "90.5 ± " in linear
    assert "-10.0 % [" in linear
    assert linear.endswith("worse")
    without = journal([({"policy": "linear"}, [])])
    lines = result_lines(analyse([*without, *failed], carried_out=False))
    assert "policy=linear  no result: it crashed" in lines


@pytest.mark.parametrize(
    ("bounds", "code"),
    [([], 0), (["throughput < -3%"], 2), (["throughput < -10%"], 0), (["throughput > 3%"], 0)],
)
def test_exit_codes(bounds: Sequence[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = analyse(ENTRIES, carried_out=False)
    assert exit_code(found, decide(found, [parse_bound(text) for text in bounds])) == code
    said = capsys.readouterr().err
    assert ("exceeded" in said) == (code == 2)
    assert ("not decided" in said) == (bounds == ["throughput < -10%"])


def test_a_failed_cell_is_an_exit_code() -> None:
    entries = [*ENTRIES, *[Failed("policy=linear", 1, 1.0, "it crashed")] * 3]
    assert exit_code(analyse(entries, carried_out=False), ()) == 3


def test_progress_without_a_terminal_is_a_line_a_repeat(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress("experiment", shown=False)
    progress.report([*ENTRIES[:3], repeat("policy=default", {"throughput": 101.0})])
    progress.report([*ENTRIES, Failed("policy=linear", 1, 1.0, "it crashed")])
    progress.clear()
    said = capsys.readouterr().err
    assert "policy=default: 101 a second; 2 to 4 left" in said
    assert "policy=linear: a repeat failed: it crashed" in said


def test_progress_in_a_terminal_has_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("experiment", shown=True)
    progress.report(ENTRIES[:3])
    progress.clear()
    assert "2 repeats, 8 s left at least" in capsys.readouterr().err
    assert duration_text(119) == "119 s"
    assert duration_text(180) == "3 min"


def test_workloads_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "--workloads"]) == 0
    said = capsys.readouterr().out
    assert "web: A tiny Go web service" in said
    assert (
        "free_workload   how many times its execution time a request sleeps: 0 to 10000 (100)"
        in said
    )


def test_spans_become_a_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = tmp_path / "spans.json"
    one = {"startTimeUnixNano": "1000000", "endTimeUnixNano": "3000000", "kind": 2}
    spans.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}))
    assert main(["experiment", "--requests-of", str(spans), "--free-workload", "9"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1 1 0 200"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--requests-of", "no-such-run"], "no-such-run: "),
        ([], "name an experiment file, or one of "),
        (["no-such-one"], "there is no file no-such-one; ready ones: "),
        (["./none.toml"], "none.toml: cannot be read"),
        (["pool-size", "--fail-if", "speed < 1%"], "use FIGURE < NUMBER%"),
    ],
)
def test_mistakes_of_the_command_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_ready_files_are_found_by_name() -> None:
    assert {"thesis-web", "pool-size", "policies-pair", "speed-up"} <= set(ready_names())


def test_a_tidscope_that_does_not_answer_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answering = Path(__file__).parents[1] / "programs" / "answering_workload"
    file = tmp_path / "a.toml"
    file.write_text(
        f'version = 1\nname = "a"\ntitle = "A"\n[[program]]\nworkload = "{answering}/"\n'
    )
    monkeypatch.setenv("TIDSCOPE_TOKEN", "token-of-nobody-at-all")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert main(["experiment", str(file), "--port", "1"]) == 1
    assert "127.0.0.1:1/health" in capsys.readouterr().err
