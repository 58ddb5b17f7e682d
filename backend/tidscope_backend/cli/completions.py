"""`tidscope completions`: what the Tab key offers in bash, zsh and fish, made from the parsers."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidscope_backend.cli import VERBS, load, parser_of_all
from tidscope_backend.cli.command import Command, print_lines


@dataclass(frozen=True)
class Option:
    """An option of a verb.

    Attributes:
        names: its spellings.
        help: its help as one line.
        takes_value: whether a value follows.
        choices: the possible values; empty if they are open.
    """

    names: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """Words that may follow a path, such as `hosts add`.

    Attributes:
        path: verb and subcommand; empty for `tidscope` alone.
        words: verbs, subcommands or choices of an argument, each with its help.
        leads_on: whether a word begins another level.
        options: options.
    """

    path: str
    words: tuple[tuple[str, str], ...]
    leads_on: bool
    options: tuple[Option, ...]

    @property
    def route(self) -> str:
        """The path as the shells build it: a blank before each word."""
        return f" {self.path}" if self.path else ""

    def values(self) -> Iterator[tuple[str, Option]]:
        """Yield each option that takes a value, behind a pattern of route and spelling."""
        for option in self.options:
            if option.takes_value:
                yield "|".join(f"'{self.route} {name}'" for name in option.names), option


def levels() -> Iterator[Level]:
    """Yield all levels of the command line, outer ones first."""
    commands = [load(verb) for verb in VERBS]
    verbs = tuple((command.name, command.help) for command in commands)
    yield Level("", verbs, True, _options(parser_of_all()))
    for command in commands:
        yield from _levels_of(command.name, command.parser())


def _levels_of(path: str, parser: argparse.ArgumentParser) -> Iterator[Level]:
    words: list[tuple[str, str]] = []
    inner: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = dict(action.choices)
            helps = {choice.dest: choice.help for choice in action._choices_actions}
            words += [(name, _line(parser, helps.get(name))) for name in inner]
        elif not action.option_strings and action.choices is not None:
            words += [(str(choice), "") for choice in action.choices]
    yield Level(path, tuple(words), bool(inner), _options(parser))
    for name, further in inner.items():
        yield from _levels_of(f"{path} {name}", further)


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    return tuple(
        Option(
            tuple(action.option_strings),
            _line(parser, action.help),
            action.nargs != 0,
            tuple(map(str, action.choices or ())),
        )
        for action in parser._actions
        if action.option_strings and action.help != argparse.SUPPRESS
    )


def _line(parser: argparse.ArgumentParser, text: str | None) -> str:
    """Return a help text without placeholders, up to the first parenthesis or semicolon."""
    plain = re.sub(r"%\(\w+\)\w|%%", "…", text or "")
    return re.split(r"[;(]", " ".join(plain.split()))[0].strip()


def bash() -> Iterator[str]:
    """Yield the lines of a file for bash-completion."""
    known = list(levels())
    yield "_tidscope() {"
    yield "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}"
    yield "  local path='' word words=''"
    yield '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield from _path_lines(known, '"$path $word"')
    yield "  done"
    yield '  case "$path $previous" in'
    for level in known:
        for pattern, option in level.values():
            yield f"    {pattern}) words={_quoted(option.choices)} previous=value ;;"
    yield "  esac"
    yield '  if [ "$previous" != value ]; then'
    yield '    case "$path" in'
    for level in known:
        names = [*_names(level), *(name for option in level.options for name in option.names)]
        yield f"      '{level.route}') words={_quoted(names)} ;;"
    yield "    esac"
    yield "  fi"
    yield '  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")'
    yield "}"
    yield "complete -o default -F _tidscope tidscope"


def zsh() -> Iterator[str]:
    """Yield the lines of a file `_tidscope` in a folder of zsh's fpath."""
    known = list(levels())
    yield "#compdef tidscope"
    yield "local route='' word"
    yield "local -a found"
    yield 'for word in "${(@)words[2,CURRENT-1]}"; do'
    yield from _path_lines(known, '"$route $word"', "route")
    yield "done"
    yield 'case "$route ${words[CURRENT-1]}" in'
    for level in known:
        for pattern, option in level.values():
            offer = f"compadd -- {' '.join(option.choices)}" if option.choices else "_files"
            yield f"  {pattern}) {offer}; return ;;"
    yield "esac"
    yield 'case "$route" in'
    for level in known:
        entries = [*level.words, *((one, o.help) for o in level.options for one in o.names)]
        described = " ".join(shlex.quote(f"{name}:{text}") for name, text in entries)
        yield f"  '{level.route}') found=({described}) ;;"
    yield "esac"
    yield "_describe -V tidscope found || _files"


def fish() -> Iterator[str]:
    """Yield the lines of a file for fish's folder of completions."""
    yield "complete -c tidscope -f"
    for level in levels():
        seen = [f"__fish_seen_subcommand_from {word}" for word in level.path.split()]
        if level.leads_on:
            seen.append(f"not __fish_seen_subcommand_from {' '.join(_names(level))}")
        begin = f"complete -c tidscope -n {shlex.quote('; and '.join(seen) or 'true')}"
        for name, text in level.words:
            yield f"{begin} -a {name} -d {_fish(text)}"
        for option in level.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = f" -x -a {_fish(' '.join(option.choices))}" if option.choices else " -r -F"
            yield f"{begin} {names}{value if option.takes_value else ''} -d {_fish(option.help)}"


def _path_lines(known: list[Level], subject: str, variable: str = "path") -> Iterator[str]:
    """Lines that add a word to the path if it leads to another level; for bash and zsh."""
    patterns = "|".join(f"'{level.route}'" for level in known if level.path)
    yield f"  case {subject} in"
    yield f'    {patterns}) {variable}="${variable} $word" ;;'
    yield "  esac"


def _names(level: Level) -> list[str]:
    return [name for name, _ in level.words]


def _quoted(words: tuple[str, ...] | list[str]) -> str:
    return shlex.quote(" ".join(words))


def _fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHELLS: dict[str, Callable[[], Iterator[str]]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell")


def _run(options: argparse.Namespace) -> int:
    """Print the file."""
    print_lines(*SHELLS[options.shell]())
    return 0


COMMAND = Command(
    name="completions",
    help="print the file that completes words in bash, zsh or fish",
    description="Print the file that completes words at the Tab key. For bash: "
    "~/.local/share/bash-completion/completions/tidscope, for zsh: a file _tidscope in a folder "
    "of fpath, for fish: ~/.config/fish/completions/tidscope.fish.",
    add_arguments=_add_arguments,
    run=_run,
)
