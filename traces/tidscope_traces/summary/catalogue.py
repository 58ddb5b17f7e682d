"""Numbers for operations, so that what is kept of a trace is small."""

from collections.abc import Sequence

from tidscope_traces.spans.model import Operation


class Catalogue:
    """Operations by number, in the order in which they were first seen."""

    def __init__(self, operations: Sequence[Operation] = ()) -> None:
        self.operations: list[Operation] = list(operations)
        self._numbers = {operation: number for number, operation in enumerate(self.operations)}

    def number(self, service: str, name: str) -> int:
        """The number of an operation, a new one if need be."""
        operation = Operation(service, name)
        found = self._numbers.get(operation)
        if found is None:
            found = self._numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return found
