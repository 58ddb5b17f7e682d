"""`--help` of the command line: every verb and option is listed once, in one style."""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from importlib import resources

import pytest
from tidscope_backend.cli import VERBS, load, main
from tidscope_backend.cli.command import Command

QUAINT = re.compile(r"\b(taken|none is|what is|whom|more than once|of the runs)\b")
"""Phrases that help does not use, beside the words that `make check` looks for."""


def parsers(command: Command) -> Iterator[argparse.ArgumentParser]:
    """The parser of a verb, and those of its subcommands."""
    parser = command.parser()
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as exited:
        main([*arguments, "--help"])
    assert exited.value.code == 0
    return capsys.readouterr().out


def test_the_list_of_verbs_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    listed = help_of(capsys).partition("verbs:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(VERBS)
    for line, verb in zip(listed, VERBS, strict=True):
        command = load(verb)
        assert command.name == verb
        assert line.endswith(command.help)
        assert len(line) <= 90


def test_each_file_with_a_command_is_a_verb() -> None:
    files = resources.files("tidscope_backend.cli").iterdir()
    with_command = {
        file.name.removesuffix(".py").replace("_", "-")
        for file in files
        if file.name.endswith(".py") and "\nCOMMAND = Command(" in file.read_text()
    }
    assert with_command == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_lists_each_option_once(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(capsys, verb)
    assert text.startswith(f"usage: tidscope {verb}")
    # The section of options; the usage above it names each of them, too.
    section = text.partition("\noptions:\n")[2]
    shown = Counter(re.findall(r"^  (?:-\w, )?(--[\w-]+)", section, re.MULTILINE))
    (parser, *_) = parsers(load(verb))
    # Of an option and its opposite (--open, --no-open) the first.
    long = [
        next(name for name in action.option_strings if name.startswith("--"))
        for action in parser._actions
        if action.option_strings
    ]
    assert shown == Counter(long)


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_written_in_one_style(verb: str) -> None:
    command = load(verb)
    assert command.help[0].islower()
    assert not command.help.endswith(".")
    for parser in parsers(command):
        assert parser.description is not None
        assert parser.description[0].isupper()
        assert parser.description.endswith(".")
        assert not QUAINT.search(parser.description), parser.description
        for action in parser._actions:
            name = action.option_strings or action.dest
            if isinstance(action, argparse._SubParsersAction):
                continue
            assert action.help, f"{verb} {name} has no help"
            assert not action.help.endswith("."), f"{verb} {name}: {action.help}"
            assert not QUAINT.search(action.help), f"{verb} {name}: {action.help}"


def test_an_unknown_verb_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["tpo"])
    assert exited.value.code == 2
    assert "invalid choice: 'tpo'" in capsys.readouterr().err
