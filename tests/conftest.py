"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest
from programs.known_work import KnownWork


@pytest.fixture
def known_work() -> Iterator[KnownWork]:
    """A running known_work program with its usual amounts of work."""
    with KnownWork() as program:
        yield program
