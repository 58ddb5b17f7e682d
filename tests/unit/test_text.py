"""Numbers and names as text."""

import json

import pytest
from tidscope_backend.text import format_bytes, format_seconds, plural
from tidscope_wire.escaping import escape_controls


def test_plural() -> None:
    assert [plural(n, "thread") for n in (0, 1, 2)] == ["0 threads", "1 thread", "2 threads"]
    assert plural(2, "process", "processes") == "2 processes"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (1024**2, "1.0 MiB"),
        (5 * 1024**4, "5120.0 GiB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 µs"), (59_300, "59 µs"), (1_500_000, "1.5 ms"), (2_345_000_000, "2.35 s")],
)
def test_seconds(nanoseconds: int, text: str) -> None:
    assert format_seconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe µs ±1 – 線程 🧵", "Größe µs ±1 – 線程 🧵"),
        ("\x1b[31m\0", r"\u001b[31m\u0000"),
        ("\x7f\x80\x9b\xa0", r"\u007f\u0080\u009b\u00a0"),
        ("\t\r\n\u2028", r"\u0009\u000d\u000a\u2028"),
        ("\u200f\u202e\u2066\ufeff", r"\u200f\u202e\u2066\ufeff"),
        ("\U000e0041", r"\udb40\udc41"),
        ("\udcff", r"\udcff"),
    ],
)
def test_no_control_character_is_left(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
    assert json.loads(f'"{shown}"') == text
