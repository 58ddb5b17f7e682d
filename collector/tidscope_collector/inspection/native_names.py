"""Names of native code of a process: a question to a limited child.

Mappings come from the kernel, and tell which files to open. The file is the one with the build ID
that the unwinder saw, whatever its name is now. Symbol tables and DWARF are read after all rights
are given up, by the native reader of `tidscope_sampler`. It maps files: their size bounds the
address space, not the memory.

Names by symbol tables are answered first. Lines and inlined functions follow address by address,
so a child that is ended by huge DWARF has answered what the symbol table gives.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import Arguments, Places, open_named_folder, say
from tidscope_collector.inspection.demangling import is_mangled
from tidscope_collector.inspection.maps import MAPS_BYTES, parse_maps
from tidscope_collector.inspection.process_files import read_beginning

if TYPE_CHECKING:
    from tidscope_collector.inspection.native_files import Place, Source

NAMES_S = 10.0
"""Timeout for the names in one file, in seconds."""
MAX_ADDRESSES = 512
"""Maximum addresses in one question."""
LONGEST_TEXT = 512
"""Maximum length of a function or a path, in characters; the rest is cut off."""
MAX_INLINED = 32
"""Maximum functions inlined into each other in an answer; inner ones are left out."""

_CPU_S = 10
_MAPPED_BYTES = 16 << 30
_PRIVATE_BYTES = 512 << 20


def native_names(places: Places, arguments: Arguments, answer: int) -> None:
    """Answer names of functions at addresses in a mapped file.

    Arguments: pid, start_ticks, file_name (see `number_of_name`) and build_id of the file,
    addresses as its headers count (at most MAX_ADDRESSES), and lines: False to leave DWARF alone.
    Answers: {"unreadable": errno}, or {"missing", "symbols", "lines"}: why the file is not read,
    and whether it or its debug file has the symbol table for debugging, and DWARF. Then {"address",
    "function", "file", "line", "inlined"}, at first as symbol tables have it, and again with lines;
    `inlined` has the outermost function first. At the end {"cpu_s"}: CPU time of the child.
    """
    # Only children for this question load native code that parses.
    from multi_demangle import demangle_symbol

    from tidscope_collector.inspection.native_files import open_sources

    limit_resources(Limits(_MAPPED_BYTES, _CPU_S, NAMES_S, private_bytes=_PRIVATE_BYTES))
    try:
        folder = open_named_folder(arguments)
        maps = os.open("maps", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    mappings = parse_maps(read_beginning(maps, MAPS_BYTES))
    file_name, build_id = arguments["file_name"], arguments["build_id"]
    sources, missing = open_sources(folder, mappings, file_name, build_id, places)
    confine()
    head = {
        "missing": missing,
        "symbols": any(one.symbols for one in sources),
        "lines": any(one.lines for one in sources),
    }
    say(answer, head)
    addresses = sorted(set(arguments["addresses"][:MAX_ADDRESSES]))

    def readable(name: str) -> str:
        return (demangle_symbol(name) if is_mangled(name) else name)[:LONGEST_TEXT]

    named = _say_functions(sources, addresses, readable, answer)
    if arguments["lines"]:
        _say_lines(sources, addresses, named, readable, answer)
    say(answer, {"cpu_s": time.process_time()})


def _say_functions(
    sources: Sequence["Source"],
    addresses: Sequence[int],
    readable: Callable[[str], str],
    answer: int,
) -> Mapping[int, str]:
    from tidscope_collector.inspection.native_files import functions

    named = functions(sources, addresses)
    for address, name in named.items():
        row = {"function": readable(name), "file": "", "line": 0, "inlined": []}
        say(answer, {"address": address, **row})
    return named


def _say_lines(
    sources: Sequence["Source"],
    addresses: Sequence[int],
    named: Mapping[int, str],
    readable: Callable[[str], str],
    answer: int,
) -> None:
    from tidscope_collector.inspection.native_files import lines

    def say_places(address: int, innermost_first: Sequence["Place"]) -> None:
        outer, *inlined = [
            (readable(function), path[-LONGEST_TEXT:], line)
            for function, path, line in reversed(innermost_first)
        ]
        function = outer[0] or readable(named.get(address, ""))
        row = {"function": function, "file": outer[1], "line": outer[2]}
        say(answer, {"address": address, **row, "inlined": inlined[:MAX_INLINED]})

    lines(sources, addresses, say_places)
