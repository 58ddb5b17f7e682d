"""Pages that one Go program serves at ports of its own, such as its profiles.

A page is looked for at each port once, and only if the program has the functions that serve it. A
port that does not answer in time is tried again at the next search.
"""

import time
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import GoServing, ask_go_serving
from tidscope_collector.inspection.own_server import (
    NotOwnPortError,
    NotServedError,
    OwnedPort,
    TooSlowError,
    fetch,
)
from tidscope_collector.inspection.reader import ask_ports

MAX_PORTS = 8
SEARCH_S = 60.0
"""Interval between two searches for new ports, in seconds."""

_Content = TypeVar("_Content")


class Page(NamedTuple, Generic[_Content]):
    """A page of a program.

    Attributes:
        accept: value of the Accept header.
        served: True if a program with these functions may serve it.
        parse: returns the content of a body; raises NotServedError or NoAnswerError if the body is
            another page's.
    """

    accept: str
    served: Callable[[GoServing], bool]
    parse: Callable[[bytes], _Content]


class OwnPages(Generic[_Content]):
    """Finds and reads pages of one program; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        pages: pages by path.
        not_served: sentence for people that says that no page is served.

    Attributes:
        took_s: time that the program took for the last page, in seconds.
    """

    def __init__(
        self, pid: int, start_ticks: int, pages: Mapping[str, Page[_Content]], not_served: str
    ) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._pages = pages
        self._not_served = not_served
        self._wanted: set[str] | None = None
        self._ports: dict[str, int] = {}
        self._tried: set[int] = set()
        self._owned: dict[int, OwnedPort] = {}
        self._search_at_s = 0.0
        self.took_s = 0.0

    def read(self) -> dict[str, _Content | str]:
        """Return by path the content of each page found, or why it cannot be read for the moment.

        Raises:
            NotServedError: no page is known; the text says why.
        """
        self._search()
        found: dict[str, _Content | str] = {}
        for path in list(self._ports):
            try:
                found[path] = self._fetch(path, self._ports[path])
            except (NotServedError, NoAnswerError) as error:
                found[path] = str(error)
            except NotOwnPortError:
                del self._ports[path]
                self._search_at_s = 0.0
        if not found:
            raise NotServedError(self._not_served)
        return found

    def _search(self) -> None:
        """Find the ports that serve the pages."""
        if self._wanted is None:
            try:
                can = ask_go_serving(self._pid, self._start_ticks)
            except NoAnswerError as error:
                raise NotServedError(str(error)) from error
            self._wanted = {path for path, page in self._pages.items() if page.served(can)}
        missing = self._wanted - self._ports.keys()
        if not missing or time.monotonic() < self._search_at_s:
            return
        self._search_at_s = time.monotonic() + SEARCH_S
        listening = ask_ports([(self._pid, self._start_ticks)]).get(self._pid, [])
        for port in [port for port in listening if port not in self._tried][:MAX_PORTS]:
            self._tried.add(port)
            for path in sorted(missing - self._ports.keys()):
                try:
                    self._fetch(path, port)
                except TooSlowError:
                    self._tried.discard(port)
                    continue
                except (NotServedError, NoAnswerError, NotOwnPortError):
                    continue
                self._ports[path] = port

    def _fetch(self, path: str, port: int) -> _Content:
        """Return a page's content.

        Raises:
            NotOwnPortError: another process listens at the port.
            NotServedError: the port does not serve the page.
            NoAnswerError: the content is invalid.
        """
        page = self._pages[path]
        owned = self._owned.setdefault(port, OwnedPort(self._pid, self._start_ticks, port))
        asked_s = time.monotonic()

        def refusal() -> str:
            nonlocal asked_s
            why = owned.refusal()
            asked_s = time.monotonic()
            return why

        body = fetch(port, path, refusal, page.accept)
        self.took_s = time.monotonic() - asked_s
        return page.parse(body)
