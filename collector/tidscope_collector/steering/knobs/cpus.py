"""Which CPUs a steered process runs on: those that the others leave free, as far as they go."""

from collections import Counter
from collections.abc import Collection, Iterable


def choose_cpus(
    allowed: Collection[int],
    number: int,
    own: Collection[int],
    others: Iterable[Collection[int]],
) -> frozenset[int]:
    """Choose CPUs for a process.

    Those that the fewest other processes hold come first, among them those that it has already, and
    then the lowest numbers.

    Args:
        allowed: to choose from.
        number: how many; at most as many as are allowed.
        own: those that it has now.
        others: those that each of the other steered processes has.
    """
    held = Counter(cpu for cpus in others for cpu in cpus)
    ranked = sorted(allowed, key=lambda cpu: (held[cpu], cpu not in own, cpu))
    return frozenset(ranked[:number])


class CpuShares:
    """The CPUs of all processes that one collector steers by affinity."""

    def __init__(self) -> None:
        self._held: dict[int, frozenset[int]] = {}

    def allocate(self, pid: int, allowed: Collection[int], number: int) -> frozenset[int]:
        """Choose CPUs for a process, and note that it has them."""
        others = [cpus for other, cpus in self._held.items() if other != pid]
        self._held[pid] = choose_cpus(allowed, number, self._held.get(pid, ()), others)
        return self._held[pid]

    def free(self, pid: int) -> None:
        """The process is not steered any more."""
        self._held.pop(pid, None)
