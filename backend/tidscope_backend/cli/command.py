"""What a verb of the command line is, and how it fails."""

import argparse
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


class CommandError(Exception):
    """The command cannot do its work; the text says why and what to do.

    Args:
        message: one sentence.
        code: exit code.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def loading() -> Iterator[None]:
    """While modules are loaded: no garbage collection, which would find nothing and costs a fifth.

    What is loaded stays to the end, so later collections leave it out too, in forks as well.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def parse_all(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; what the parser does not know is an error."""
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Command:
    """A verb of the command line.

    Attributes:
        name: the verb.
        help: one line for the list of verbs.
        add_arguments: adds the verb's options to its parser.
        run: does the work and returns the exit code; raises CommandError.
        description: what stands above the options in its --help; the help line if empty.
        usage: replaces the usage line that argparse makes.
        epilog: what stands below the options.
        parse: reads the arguments, where argparse alone cannot.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    description: str = ""
    usage: str | None = None
    epilog: str | None = None
    parse: Callable[[argparse.ArgumentParser, Sequence[str]], argparse.Namespace] = parse_all

    def parser(self) -> argparse.ArgumentParser:
        """Make the parser of this verb."""
        parser = argparse.ArgumentParser(
            prog=f"tidscope {self.name}",
            usage=self.usage,
            description=self.description or f"{self.help[:1].upper()}{self.help[1:]}.",
            epilog=self.epilog,
        )
        self.add_arguments(parser)
        return parser

    def main(self, arguments: Sequence[str]) -> int:
        """Parse the arguments and run."""
        return self.run(self.parse(self.parser(), arguments))
