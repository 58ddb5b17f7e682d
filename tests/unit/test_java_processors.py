"""How many processors a Java virtual machine uses, as it works it out."""

import pytest
from tidscope_collector.sizing.java_processors import parse_version, processors


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("17.0.15", (17, 15)),
        ("21", (21, 0)),
        ("1.8.0_392", (8, 392)),
        ("24-ea", (24, 0)),
        ("", (None, 0)),
    ],
)
def test_versions(version: str, expected: tuple[int | None, int]) -> None:
    assert parse_version(version) == expected


@pytest.mark.parametrize(
    ("flags", "version", "limit", "weight", "own", "size"),
    [
        ([], "21.0.2", None, None, False, 8),
        ([], "21.0.2", 2.5, None, True, 3),
        ([], "21.0.2", 0.2, None, True, 1),
        ([], "21.0.2", 2.5, None, False, None),
        ([], "24", 2.5, None, False, 3),
        ([], "9.0.4", 2.0, None, True, 8),
        ([], "1.8.0_181", 2.0, None, True, 8),
        ([], "1.8.0_392", 2.0, None, True, 2),
        ([], "", 2.0, None, True, None),
        (["-XX:-UseContainerSupport"], "21", 2.0, None, True, 8),
        (["-XX:ActiveProcessorCount=5"], "21", 2.0, None, True, 5),
        (["-XX:ActiveProcessorCount=5", "-XX:ActiveProcessorCount=6"], "", None, None, True, 6),
        (["-XX:ActiveProcessorCount=-1"], "21", 2.0, None, True, 2),
        # A weight of 39 is a request of one core: older machines take it for a limit.
        ([], "11.0.16", None, 39, True, 1),
        ([], "11.0.17", None, 39, True, 8),
        ([], "11.0.16", None, 100, True, 8),
        ([], "11.0.16", 2.0, 39, True, 2),
        (["-XX:+UseContainerCpuShares"], "21", None, 79, True, 2),
        (["-XX:-UseContainerCpuShares"], "11.0.16", None, 39, True, 8),
    ],
)
def test_processors(
    flags: list[str],
    version: str,
    limit: float | None,
    weight: int | None,
    own: bool,
    size: int | None,
) -> None:
    assert processors(flags, version, 8, limit, weight, own_limit=own).size == size


def test_who_chose_it_and_why() -> None:
    given = processors(["-XX:ActiveProcessorCount=5"], "21", 8, 2.0, None, own_limit=True)
    assert (given.chosen, given.name) == ("environment", "Active processors")
    assert "ActiveProcessorCount=5" in given.reason
    old = processors([], "9.0.4", 8, 2.0, None, own_limit=True)
    assert (old.chosen, old.reason) == ("runtime", "Java 9.0.4 does not heed CPU limits.")
