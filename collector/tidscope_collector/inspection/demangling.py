"""Demangled names of C++, Rust and Swift variables: a question to limited children.

The demangler is native code, and its input comes from untrusted executables. Only the one child
that needs it loads it.
"""

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, PROCESSES_S, Arguments, say
from tidscope_collector.inspection.process_files import read_beginning

LONGEST_NAME = 512
_MAX_BYTES = 1 << 20
_PREFIXES = ("_Z", "_R", "$s", "_$s", "$S", "_$S")
"""Prefixes of names mangled by compilers of C++ (Itanium ABI), Rust and Swift."""
SEPARATOR = "\0"
"""Separator of names; no symbol contains it."""


def is_mangled(name: str) -> bool:
    """Return True if the name may be mangled C++, Rust or Swift."""
    return name.startswith(_PREFIXES)


def readable_names(_: Arguments, answer: int) -> None:
    """Answer demangled names; the mangled ones are sent behind the question.

    Answers: {"name"} for each one in order, unchanged if it is not mangled, at most LONGEST_NAME
    characters; and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    from multi_demangle import demangle_symbol

    confine()
    for name in read_beginning(answer, _MAX_BYTES).decode().split(SEPARATOR):
        say(answer, {"name": demangle_symbol(name)[:LONGEST_NAME]})
    say(answer, {})
