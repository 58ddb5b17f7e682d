"""Man pages made from the parsers: every option is there, and roff has no complaints."""

import argparse
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_backend.cli import VERBS, load
from tidscope_backend.cli.manual import COMPLETIONS, files, main

MADE = dict(files())
PAGES = {path: text for path, text in MADE.items() if path.startswith("share/man/")}


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command and of its subcommands, but for --help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from options(inner)
        elif action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            yield from action.option_strings


def test_there_is_a_page_for_each_verb_and_a_file_for_each_shell() -> None:
    names = {f"share/man/man1/tidscope{suffix}.1" for suffix in ("", *(f"-{v}" for v in VERBS))}
    assert set(PAGES) == names
    assert set(MADE) - names == set(COMPLETIONS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_names_all_options(verb: str) -> None:
    page = PAGES[f"share/man/man1/tidscope-{verb}.1"]
    listed = {line.replace("\\-", "-") for line in page.splitlines()}
    for option in options(load(verb).parser()):
        assert any(f"\\fB{option}\\fR" in line for line in listed), option


def test_roff_has_no_complaints(tmp_path: Path) -> None:
    groff = shutil.which("groff")
    assert groff, "groff is missing; tools/install-test-packages installs it"
    main(tmp_path)
    pages = sorted((tmp_path / "share/man/man1").iterdir())
    done = subprocess.run(
        [groff, "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou", *pages],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "--version" in done.stdout


def test_texts_are_printed_as_they_are(tmp_path: Path) -> None:
    """A value that looks like a request of roff, or like an escape, is text."""
    page = PAGES["share/man/man1/tidscope-record.1"]
    assert not [line for line in page.splitlines() if line.startswith("'")]
    allowed = {"TH", "nh", "ad", "SH", "SS", "TP", "PP", "nf", "fi", "BR", "B", "I"}
    requests = {line[1:].split(" ")[0] for line in page.splitlines() if line.startswith(".")}
    assert requests <= allowed
