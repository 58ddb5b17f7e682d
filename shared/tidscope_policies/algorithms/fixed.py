"""fixed: keep one size. The baseline, and the way to set a size by hand."""

from dataclasses import dataclass

from tidscope_policies.contract import Decision, Observation
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class FixedParameters(Parameters):
    """Parameters of the policy `fixed`."""

    size: int = parameter(0, 0, 65536, "threads", "the size to keep; 0: the highest allowed")


class Fixed:
    """Policy that always decides the same size."""

    def __init__(self, parameters: FixedParameters) -> None:
        self._size = parameters.size

    def observe(self, seen: Observation) -> Decision:
        """Keep the size, inside the bounds."""
        size = seen.bounds.clamp(self._size or seen.bounds.high)
        if size == seen.size:
            return Decision(size, "keeping", f"The size stays at {size}.")
        return Decision(size, "keeping", f"The size is {seen.size} and should be {size}.")

    def restart(self, reason: str) -> None:
        """Do nothing: there is no search."""
