"""The command line as a whole: help, hints, and addresses of backends."""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
from fake_backend import TOKEN, FakeBackend
from tidscope_backend.cli import VERBS, load, main
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, UntrustedError
from tidscope_backend.cli.command import Command
from tidscope_backend.settings import BROWSER_VARIABLE
from tidscope_wire.generated.models import SizeAudit

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
    # The first of an option and its opposite (--open, --no-open).
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


ROOT = Path(__file__).parents[2]
REFUSALS = {"refusal", "refuse", "problem", "Problem", "ProblemError", "RefusedError"}
ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) /|/api/v\d|\b(past_s|duration_s)\b")


def texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def refusal_texts() -> Iterator[tuple[str, str]]:
    """File and line of each text of a refusal, with the text."""
    for package in ("backend/tidscope_backend", "collector/tidscope_collector", "shared"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in REFUSALS:
                    where = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield from ((where, text) for text in texts(node))


def test_no_refusal_names_a_route() -> None:
    found = list(refusal_texts())
    assert len(found) > 100
    assert [(where, text) for where, text in found if ROUTE.search(text)] == []


COMMANDS = {
    "steer": (["steer", "--pid", "100"], ("POST", "/targets")),
    "prove": (["prove", "--pid", "100"], ("POST", "/targets")),
    "sweep": (["sweep", "--pid", "100"], ("POST", "/targets")),
    "sizes": (["sizes"], ("GET", "/sizes")),
}
"""A verb, to its arguments and its first request."""


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    backend = FakeBackend()
    backend.serve(monkeypatch, *COMMANDS)
    return backend


@pytest.mark.parametrize("verb", COMMANDS)
def test_without_a_token_nothing_is_asked(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
) -> None:
    monkeypatch.setenv(BROWSER_VARIABLE, "")
    assert main(COMMANDS[verb][0]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"tidscope {verb}: no tidscope of this user runs at ")
    assert f"set {BROWSER_VARIABLE} to its token" in said.err
    assert (backend.opened, backend.requests) == ([], [])


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RefusedError("It is full; wait"), "It is full; wait"),
        (UntrustedError("Another program answers"), "Another program answers"),
        (
            UnavailableError("here: refused"),
            "no tidscope answers: here: refused; start one by `tidscope up`",
        ),
    ],
)
def test_why_it_cannot_be_done_is_said(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    verb: str,
    error: Exception,
    sentence: str,
) -> None:
    arguments, first = COMMANDS[verb]
    backend.table[first] = error
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"tidscope {verb}: {sentence}\n")
    assert (backend.requests, backend.closed) == ([first], 1)


def test_the_backend_is_where_the_options_say(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.table["GET", "/sizes"] = SizeAudit(programs=[], omitted=0)
    assert main(["sizes", "--host", "10.0.0.9", "--port", "9999"]) == 0
    assert main(["sizes"]) == 0
    assert backend.opened == [("10.0.0.9:9999", TOKEN), ("127.0.0.1:8787", TOKEN)]
    assert backend.closed == 2
    assert capsys.readouterr().out == 2 * "0 of 0 pools set wrong\n"
