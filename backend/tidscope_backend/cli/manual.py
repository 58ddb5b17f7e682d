"""Man pages and completions of the command line, made from its parsers.

`python -m tidscope_backend.cli.manual FOLDER` writes them to where an installation has them below
its prefix; the wheel carries these files.
"""

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidscope_backend import VERSION
from tidscope_backend.cli import VERBS, load, parser_of_all
from tidscope_backend.cli.command import Command
from tidscope_backend.cli.completions import SHELLS

COMPLETIONS = {
    "bash": "share/bash-completion/completions/tidscope",
    "zsh": "share/zsh/site-functions/_tidscope",
    "fish": "share/fish/vendor_completions.d/tidscope.fish",
}
"""Path of the file of completions below a prefix, by shell."""
_NOT_LISTED = (argparse._HelpAction, argparse._SubParsersAction)
_WIDTH = 72
"""Width of a synopsis, in characters."""


def files() -> Iterator[tuple[str, str]]:
    """Yield path below the prefix and text of each file."""
    commands = [load(verb) for verb in VERBS]
    yield "share/man/man1/tidscope.1", _page(_overview(commands))
    for command in commands:
        yield f"share/man/man1/tidscope-{command.name}.1", _page(_command_page(command))
    for shell, path in COMPLETIONS.items():
        yield path, _page(SHELLS[shell]())


def _page(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _overview(commands: list[Command]) -> Iterator[str]:
    parser = parser_of_all()
    yield from _head("tidscope", "oscilloscope for threads, in a browser")
    yield from (".SH SYNOPSIS", r".B tidscope", r".I VERB", "[arguments]", ".SH VERBS")
    for command in commands:
        yield from (".TP", rf".BR {_roff('tidscope-' + command.name)} (1)", _roff(command.help))
    yield from _options(parser)


def _command_page(command: Command) -> Iterator[str]:
    parser = command.parser()
    yield from _head(f"tidscope-{command.name}", command.help)
    yield from _synopsis(parser)
    yield from (".SH DESCRIPTION", *_paragraphs(parser.description))
    yield from _options(parser)
    for inner in _subcommands(parser):
        yield f".SH {_roff(inner.prog)}"
        yield from _usage(inner)
        yield from _paragraphs(inner.description)
        yield from _options(inner, heading=".SS")
    if parser.epilog:
        yield from (".SH NOTES", *_paragraphs(parser.epilog % {"prog": parser.prog}))
    yield from (".SH SEE ALSO", r".BR tidscope (1)")


def _head(name: str, what: str) -> Iterator[str]:
    yield f'.TH "{_roff(name.upper())}" 1 "" "tidscope {VERSION}" "tidscope"'
    # No hyphenation, and no blanks that fill lines: texts are full of options and paths.
    yield from (".nh", ".ad l", ".SH NAME", rf"{_roff(name)} \- {_roff(what)}")


def _synopsis(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield ".SH SYNOPSIS"
    yield from _usage(parser)


def _usage(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = argparse.HelpFormatter(parser.prog, width=_WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    text = formatter.format_help().rstrip()
    lines = textwrap.wrap(text, _WIDTH) if parser.usage else text.splitlines()
    yield from (".nf", *map(_roff, lines), ".fi")


def _options(parser: argparse.ArgumentParser, heading: str = ".SH") -> Iterator[str]:
    """Yield a section for each group of arguments: those by position first, then options."""
    formatter = argparse.HelpFormatter(parser.prog)
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        shown = [one for one in shown if not isinstance(one, _NOT_LISTED)]
        if not shown:
            continue
        yield f"{heading} {_roff((group.title or 'options').upper())}"
        yield from _paragraphs(group.description)
        for action in shown:
            text = formatter._expand_help(action) if action.help else ""
            yield from (".TP", _invocation(formatter, action), _roff(" ".join(text.split())))


def _invocation(formatter: argparse.HelpFormatter, action: argparse.Action) -> str:
    """The spellings of an option in bold, each with its value in italics."""
    if not action.option_strings:
        return rf"\fI{_breakable(formatter._format_action_invocation(action))}\fR"
    default = formatter._get_default_metavar_for_optional(action)
    value = (
        ""
        if action.nargs == 0
        else rf" \fI{_breakable(formatter._format_args(action, default))}\fR"
    )
    return ", ".join(rf"\fB{_roff(name)}\fR{value}" for name in action.option_strings)


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield inner
                yield from _subcommands(inner)


def _paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text or ""):
        if paragraph.strip():
            yield from (".PP", _roff(" ".join(paragraph.split())))


def _breakable(text: str) -> str:
    """Escape a value, whose list of choices may be longer than a line."""
    return _roff(text).replace(",", r",\:")


def _roff(text: str) -> str:
    """Escape text for roff: it is printed as it is, on one line."""
    escaped = (
        text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace('"', r"\(dq")
    )
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def main(folder: Path) -> None:
    """Write the files below a folder."""
    for path, text in files():
        to = folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
