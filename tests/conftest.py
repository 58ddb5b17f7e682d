"""Fixtures and settings for all tests."""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from programs.known_work import KnownWork

# A busy machine makes an example slow, not wrong.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def known_work() -> Iterator[KnownWork]:
    """A running known_work program with its usual amounts of work."""
    with KnownWork() as program:
        yield program
