"""Fixtures and settings for all tests."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps

import pytest
from hypothesis import settings
from programs.known_work import KnownWork

# A busy machine makes an example slow, not wrong.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


ASYNC_TEST_SECONDS = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No asynchronous test waits for ever: a timeout in a fixture does not reach into its test."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            marker = item.get_closest_marker("patience")
            item.obj = _limited(item.obj, marker.args[0] if marker else ASYNC_TEST_SECONDS)


def _limited(
    test: Callable[..., Awaitable[None]], seconds: float
) -> Callable[..., Awaitable[None]]:
    @wraps(test)
    async def limited(*arguments: object, **named: object) -> None:
        async with asyncio.timeout(seconds):
            await test(*arguments, **named)

    return limited


@pytest.fixture
def known_work() -> Iterator[KnownWork]:
    """A running known_work program with its usual amounts of work."""
    with KnownWork() as program:
        yield program
