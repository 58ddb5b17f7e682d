"""Functions of stacks, as rows of `stack_frames` have them. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from tidscope_wire.generated.models import StackFrame


class Code(NamedTuple):
    """A function at a line, as in the model StackFrame."""

    kind: str
    function: str
    file: str
    line: int
    module: str
    inlined: bool
    named: bool

    @property
    def of_function(self) -> "Code":
        """The function at no particular line."""
        return self._replace(line=0)

    def model(self) -> StackFrame:
        """Return the model."""
        return StackFrame(**self._asdict())


def codes_of(row: np.void) -> Iterator[Code]:
    """Yield the functions of a row of `stack_frames`, the outermost first."""
    named = bool(row["function"])
    address = f"{int(row['address']):#x}"
    unnamed = f"{row['module']}+{address}" if row["module"] else address
    outer = Code(
        kind=row["kind"],
        function=row["function"] or unnamed,
        file=row["file"],
        line=int(row["line"]),
        module=row["module"],
        inlined=False,
        named=named,
    )
    yield outer
    for line in row["inlined"].split("\n"):
        function, _, place = line.partition("\t")
        file, _, number = place.rpartition("\t")
        if function:
            at = int(number) if number.isascii() and number.isdigit() else 0
            yield outer._replace(function=function, file=file, line=at, inlined=True, named=True)
