"""Says which program gives cores to which, when a division changes. Pure."""

from collections.abc import Iterator, Mapping
from itertools import product

FREE = ""
"""Name under which cores that no program has are given and taken."""


def exchanges(
    before: Mapping[str, int], after: Mapping[str, int]
) -> Iterator[tuple[str, str, int]]:
    """Yield who gives how many cores to whom, so that one division becomes another.

    Args:
        before: cores by name; a name that is missing in one of the two has none there.
        after: cores by name.

    Yields:
        Giver, taker, and cores; `FREE` stands for cores that nobody has.
    """
    names = sorted({*before, *after})
    change = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    change[FREE] = -sum(change.values())
    for giver, taker in product(change, change):
        cores = min(-change[giver], change[taker])
        if cores > 0:
            change[giver] += cores
            change[taker] -= cores
            yield giver, taker, cores


def describe_exchange(
    name: str, before: Mapping[str, int], after: Mapping[str, int], labels: Mapping[str, str]
) -> str:
    """Return a sentence on what a program takes or gives, after a space; empty for no change.

    Args:
        name: the program.
        before: the former division.
        after: the division.
        labels: names for people; a program that has left has none, and its cores are free.
    """
    known = {each: cores for each, cores in before.items() if each in labels}
    said: list[str] = []
    for giver, taker, cores in exchanges(known, after):
        if taker == name:
            said.append(
                f"{_cores(cores)} from {labels[giver]}" if giver else _cores(cores, "free ")
            )
        elif giver == name:
            said.append(
                f"{_cores(cores)} to {labels[taker]}" if taker else _cores(cores, "unused ")
            )
    if not said or not known:
        return ""
    verb = "takes" if after.get(name, 0) > known.get(name, 0) else "gives"
    return f" It {verb} {', '.join(said)}."


def _cores(count: int, kind: str = "") -> str:
    return f"{count} {kind}core{'' if count == 1 else 's'}"
