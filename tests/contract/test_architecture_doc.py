"""docs/architecture.md: each way through the program is short, and each stop is a file."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
WAYS = ("A sample, from kernel to pixel", "A steering command", "A recorded frame")
MAX_STOPS = 15
STOP = re.compile(r"^(\d+)\. `([^`]+)`", re.MULTILINE)


def stops(way: str) -> list[tuple[str, str]]:
    """Number and file of each stop of a way."""
    section = TEXT.split(f"### {way}\n")[1].split("\n#")[0]
    return STOP.findall(section)


@pytest.mark.parametrize("way", WAYS)
def test_way_is_a_numbered_list_of_at_most_fifteen_stops(way: str) -> None:
    numbers = [int(number) for number, _ in stops(way)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert 2 < len(numbers) <= MAX_STOPS


@pytest.mark.parametrize("way", WAYS)
def test_each_stop_names_a_file_that_exists(way: str) -> None:
    missing = [path for _, path in stops(way) if not (ROOT / path).is_file()]
    assert missing == []


def test_folders_drawn_exist() -> None:
    """The tree of folders: two columns, indented by two blanks a level."""
    tree = TEXT.split("## Rooms\n")[1].split("```")[1]
    above: list[str] = []
    missing = []
    for line in filter(str.strip, tree.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        for name in re.split(r"\s{2,}", line.strip())[0].split():
            path = "".join([*above[:depth], name])
            if not (ROOT / path).exists():
                missing.append(path)
        above = [*above[:depth], line.split()[0]]
    assert missing == []
