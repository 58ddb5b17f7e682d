"""Names of variables as their C++ or Rust source has them: a question to limited children.

The demangler is a library in machine code, and the names are whatever an executable says. So it is
loaded by the one child that needs it, and by nothing else of the collector.
"""

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, PROCESSES_S, Arguments, say
from tidscope_collector.inspection.process_files import read_beginning

LONGEST_NAME = 512
_MAX_BYTES = 1 << 20
_PREFIXES = ("_Z", "_R")
"""Of names that C++ compilers (Itanium ABI) and Rust's make."""
SEPARATOR = "\0"
"""No symbol contains it."""


def is_mangled(name: str) -> bool:
    """True if a compiler of C++ or Rust may have made the name."""
    return name.startswith(_PREFIXES)


def readable_names(_: Arguments, answer: int) -> None:
    """Mangled names as their sources have them; they are sent behind the question.

    Answers: {"name"} for each of them in order, itself if it is none, at most LONGEST_NAME
    characters; and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    from multi_demangle import demangle_symbol

    confine()
    for name in read_beginning(answer, _MAX_BYTES).decode().split(SEPARATOR):
        say(answer, {"name": demangle_symbol(name)[:LONGEST_NAME]})
    say(answer, {})
