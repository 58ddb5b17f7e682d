"""Arguments of `tidscope ab`, and the experiment file that they mean."""

import tomllib
from pathlib import Path

import pytest
from tidscope_backend.cli import main
from tidscope_backend.cli.ab import COMMAND, definition_text, quantity, split_commands
from tidscope_backend.experiments.definition import Definition, checked_definition
from tidscope_backend.experiments.workload import workloads_folder


def read(*arguments: str) -> Definition:
    options = COMMAND.parse(COMMAND.parser(), arguments)
    text = definition_text(options, options.commands)
    return checked_definition(Path.cwd() / "ab", text, workloads_folder())


def test_two_commands_are_split() -> None:
    assert split_commands(["./a", "x", "::", "./b"]) == [["./a", "x"], ["./b"]]
    assert split_commands(["./a", "--", "y"]) == [["./a", "--", "y"]] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a command is missing"),
        (["::"], "a command is missing"),
        (["./a", "::"], "a command is missing"),
        (["A=1", "::", "./a"], "a command is missing"),
        (["a", "::", "b", "::", "c"], "there are 3 commands"),
    ],
)
def test_other_numbers_of_commands_are_refused(words: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        split_commands(words)


def test_the_file_says_what_the_arguments_do() -> None:
    found = read(
        *("--metric", "n:more=/n ([0-9]+)/", "--margin", "1", "--time", "5", "--seed", "9"),
        *("--name", "a", "--name", "b", "--recorded", "0", "--prepare", "make 'the bench'"),
        *("--", "GOGC=50", 'X="quoted\\', "./app", "-v=1", "::", "./app", "é\n"),
    )
    assert found.variants is not None
    first, second = found.variants.variants
    assert (first.name, second.name) == ("a", "b")
    assert (first.command, second.command) == (["./app", "-v=1"], ["./app", "é\n"])
    assert first.environment == {"GOGC": "50", "X": '"quoted\\'}
    assert second.environment == {}
    assert first.prepare == ["make", "the bench"]
    rules = found.variants.rules
    assert (rules.better, rules.margin, rules.most_s, rules.recorded) == ("more", 1.0, 5.0, 0)
    assert found.repeats.seed == 9


def test_one_revision_is_the_first_ones(tmp_path: Path) -> None:
    found = read("--revision", "main", "--directory", str(tmp_path), "--", "./app")
    assert found.variants is not None
    assert [one.revision for one in found.variants.variants] == ["main", None]
    assert [one.directory for one in found.variants.variants] == [tmp_path, tmp_path]
    assert tomllib.loads(found.text)["name"] == "ab"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["./a", "::", "./b"], "unrecognized arguments"),
        (["--metric", "nonsense", "--", "a"], "'nonsense' is no metric"),
        (["--metric", "n=/(x)/", "--", "a"], "has no direction"),
        (["--recorded", "5", "--", "a"], "use a whole number from 0 to 4"),
        (["--seed", "-1", "--", "a"], "use a whole number from 0 on"),
        (["--name", "a", "--", "a"], "--name is for both"),
        (["--revision", "a", "--revision", "b", "--revision", "c", "--", "a"], "given twice"),
        (["--prepare", "'", "--", "a"], "No closing quotation"),
        (["--prepare", "", "--", "a"], "is empty"),
    ],
)
def test_mistakes_are_said(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["ab", *arguments])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5, "s", "1.5 s"),
        (0.0123, "s", "12.3 ms"),
        (0.0000123, "s", "12.3 µs"),
        (0.0, "s", "0 µs"),
        (3 * 2**20, "bytes", "3 MiB"),
        (0.25, "share", "25 %"),
        (12.0, "1/s", "12 1/s"),
        (12.0, "", "12"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text
