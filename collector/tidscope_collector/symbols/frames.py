"""Native frames as an unwinder gives them, and their names."""

from collections.abc import Mapping
from typing import NamedTuple

from tidscope_collector.inspection.mapped_files import Missing
from tidscope_collector.inspection.native_name_answers import NamesAnswer, Place

NO_PLACE = Place("", "", 0)


class NativeFrame(NamedTuple):
    """A frame of native code.

    Attributes:
        pid: process that maps the file.
        start_ticks: start time of that process, in clock ticks since boot.
        module: base name of the file; empty for code that no file holds.
        build_id: build ID of the file, hexadecimal; empty if it has none.
        address: address as the file's headers count. For a caller it lies in the call, not behind
            it.
    """

    pid: int
    start_ticks: int
    module: str
    build_id: str
    address: int


class NativeName(NamedTuple):
    """Names of a native frame.

    Attributes:
        place: function, and the place of the address or of the outermost inlined call in it.
        inlined: functions inlined there, the outermost first.
        reason: why the function is unknown, a sentence; empty if it is known.
        ended: it is unknown because the process has ended; another one that maps the file may tell.
    """

    place: Place
    inlined: tuple[Place, ...] = ()
    reason: str = ""
    ended: bool = False

    @property
    def inlined_text(self) -> str:
        """Inlined functions as the column `inlined` of stack_frames has them."""
        return "\n".join(f"{one.function}\t{one.file}\t{one.line}" for one in self.inlined)


def unnamed(reason: str, *, ended: bool = False) -> NativeName:
    """Return the name of a frame without a name.

    Args:
        reason: why, a sentence.
        ended: whether all processes that could be asked have ended.
    """
    return NativeName(NO_PLACE, (), reason, ended)


def name_of(module: str, address: int, answer: NamesAnswer) -> NativeName:
    """Return the name of a frame by an answer."""
    found = answer.names.get(address)
    if found is None:
        return unnamed(reason_without(module, answer), ended=answer.missing == "gone")
    reason = "" if found.outer.function else reason_without(module, answer)
    return NativeName(found.outer, found.inlined, reason)


_MISSING: Mapping[Missing, str] = {
    "gone": "No process maps {} any more, and there is no debug file for it.",
    "replaced": "{} was replaced on disk, and there is no debug file for the old one.",
    "unreadable": "{} cannot be opened: it was deleted, or the collector may not read it.",
    "ambiguous": "Several files without a build ID are called {}.",
}


def reason_without(module: str, answer: NamesAnswer) -> str:
    """Return why a function in a file has no name."""
    if answer.missing:
        return _MISSING[answer.missing].format(module)
    if not answer.complete:
        return f"{module} takes more time or memory to read than tidscope gives it."
    if not answer.symbols and not answer.lines:
        return f"{module} is stripped. Install its debug symbols, or do not strip it."
    return f"No symbol of {module} covers this address."
