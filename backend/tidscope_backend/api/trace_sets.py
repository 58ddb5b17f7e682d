"""Sets of an endpoint's traces, as queries ask for them."""

import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Query
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_wire.problems import refusal

from tidscope_backend.traces.queries import FindRun, Wanted

MAX_NAME = 512
MAX_SET = 2 * MAX_NAME
RUN = "^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"
Ns = Annotated[int | None, Query(ge=0, lt=LATEST_NS)]
Name = Annotated[str | None, Query(max_length=MAX_NAME)]
Percentile = Annotated[float, Query(ge=0, le=100)]
RunId = Annotated[str | None, Query(pattern=RUN)]


def parse_tag(text: str | None) -> tuple[str, str] | None:
    """KEY=VALUE. Raises ProblemError: it is not of this form."""
    if text is None or not text:
        return None
    key, equals, value = text.partition("=")
    if not equals:
        raise refusal("bad-request", f"tag {text!r} has no =", "tag takes KEY=VALUE")
    return key, value


class TraceSets:
    """Reads sets of traces.

    Args:
        find_run: when a run was recorded, and of what; raises ProblemError.
    """

    def __init__(self, find_run: FindRun) -> None:
        self._find_run = find_run

    def of_endpoint(self) -> Callable[..., Coroutine[None, None, Wanted]]:
        """A dependency: the set of an endpoint's traces that a query asks for."""

        async def found(
            service: Annotated[str, Query(max_length=MAX_NAME)],
            operation: Annotated[str, Query(max_length=MAX_NAME)],
            since_ns: Ns = None,
            until_ns: Ns = None,
            low: Percentile = 0,
            high: Percentile = 100,
            tag: Name = None,
            run: RunId = None,
        ) -> Wanted:
            wanted = Wanted(
                service, operation, since_ns, until_ns, tag=parse_tag(tag), low=low, high=high
            )
            return await self.within(wanted, run)

        return found

    async def parse(self, service: str, operation: str, text: str) -> Wanted:
        """A set of an endpoint's traces, of a query of its own.

        Raises:
            ProblemError: it is none, or there is no such run.
        """
        given = {name: values[-1] for name, values in parse_qs(text).items()}
        try:
            since, until = (
                int(given[one]) if one in given else None for one in ("since_ns", "until_ns")
            )
            low, high = float(given.get("low", 0)), float(given.get("high", 100))
            if not 0 <= low <= high <= 100 or any(
                one is not None and not 0 <= one < LATEST_NS for one in (since, until)
            ):
                raise ValueError
            run = given.get("run")
            if run is not None and not re.fullmatch(RUN, run):
                raise ValueError
        except ValueError:
            raise refusal(
                "bad-request",
                f"{text!r} is not a set of traces",
                "it takes since_ns=..&until_ns=..&run=..&low=..&high=..&tag=KEY=VALUE, encoded",
            ) from None
        tag = parse_tag(given.get("tag"))
        wanted = Wanted(service, operation, since, until, tag=tag, low=low, high=high)
        return await self.within(wanted, run)

    async def within(self, wanted: Wanted, run: str | None) -> Wanted:
        """Only the traces of a run: those that began in its time and have a span of its processes.

        Raises:
            ProblemError: there is no such run.
        """
        if run is None:
            return wanted
        window = await self._find_run(run)
        since = max(window.since_ns, wanted.since_ns or 0)
        until = min(window.until_ns, LATEST_NS if wanted.until_ns is None else wanted.until_ns)
        return replace(wanted, since_ns=since, until_ns=until, processes=window.processes)
