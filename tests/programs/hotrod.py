"""HotROD, the traced services of Jaeger's own example, and requests to them.

`hotrod.py SPANS TOKEN [OPTION...]` starts all services with options of HotROD's; their spans go to
SPANS, the address of a receiver of OTLP/HTTP. It prints their process id. For each line of its
input, `REQUESTS CLIENTS`, so many clients make so many requests; then it prints how many seconds
these took. Everything ends with its input.
"""

import http.client
import os
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from threading import Event

from ports import free_port, free_ports
from processes import wait_until
from programs.build import build_go_module
from programs.running import RunningProgram

SERVICES = ("frontend", "customer", "driver", "route")
_OPTIONS = ("-f", "-c", "-d", "-r")
"""Timeout for the ports of the services."""
_CUSTOMERS = (123, 392, 731, 567)
_START = 'OTEL_RESOURCE_ATTRIBUTES=process.pid=$$ exec "$@" 2>/dev/null'
"""Shell command with the shell's process ID, which becomes the program's; the log is long."""


def build_hotrod() -> Path:
    """Build the executable. Raises RuntimeError if it or its modules are unavailable."""
    return build_go_module(Path(__file__).with_name("hotrod_go"))


def listens(port: int) -> bool:
    """True if a program listens at the port."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


class Hotrod(RunningProgram):
    """One process with all services, or one of them; use it in a ``with`` statement.

    Args:
        spans: address of the receiver of its spans.
        token: for that.
        options: options of HotROD's.
        service: service of SERVICES, or all.
        ports: ports of all services, in their order; those that it does not have are asked there.
    """

    def __init__(
        self,
        spans: str,
        token: str,
        *options: str,
        service: str = "all",
        ports: list[int] | None = None,
    ) -> None:
        self.ports = free_ports(len(SERVICES)) if ports is None else ports
        profile = free_port()
        hosts = [part for one in SERVICES for part in (f"--{one}-service-hostname", "127.0.0.1")]
        where = [
            part
            for option, port in zip(_OPTIONS, self.ports, strict=True)
            for part in (option, str(port))
        ]
        command = [str(build_hotrod()), service, *hosts, *where, *options]
        super().__init__(
            ["sh", "-c", _START, "sh", *command],
            {
                **os.environ,
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": spans,
                "OTEL_EXPORTER_OTLP_TRACES_HEADERS": f"authorization=Bearer%20{token}",
                "PROFILE_ADDRESS": f"127.0.0.1:{profile}",
            },
        )
        own = self.ports if service == "all" else [self.ports[SERVICES.index(service)]]
        try:
            wait_until(lambda: all(map(listens, [*own, profile])), 120)
        except BaseException:
            self.close()
            raise

    def load(self, requests: int, clients: int) -> list[tuple[int, int]]:
        """Make requests; when each was asked and answered, Unix nanoseconds.

        Args:
            requests: number of requests.
            clients: each makes one after the other.
        """
        numbers = iter(range(requests))
        with ThreadPoolExecutor(clients) as pool:
            lists = [pool.submit(self._client, numbers) for _ in range(clients)]
            return [times for one in lists for times in one.result()]

    @contextmanager
    def under_load(self, clients: int) -> Iterator[None]:
        """Clients make one request after the other meanwhile."""
        ended = Event()
        numbers = iter(lambda: int(ended.is_set()), 1)
        with ThreadPoolExecutor(clients) as pool:
            lists = [pool.submit(self._client, numbers) for _ in range(clients)]
            try:
                yield
            finally:
                ended.set()
        for one in lists:
            one.result()

    def _client(self, numbers: Iterator[int]) -> list[tuple[int, int]]:
        found = []
        for _, customer in zip(numbers, cycle(_CUSTOMERS), strict=False):
            begin = time.time_ns()
            self.dispatch(customer)
            found.append((begin, time.time_ns()))
        return found

    def dispatch(self, customer: int) -> int:
        """Make one request; its status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=120)
        try:
            connection.request("GET", f"/dispatch?customer={customer}")
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


def main() -> None:
    """Serve requests until the input ends."""
    spans, token, *options = sys.argv[1:]
    with Hotrod(spans, token, *options) as services:
        print(services.pid, flush=True)
        for line in sys.stdin:
            requests, clients = map(int, line.split())
            begin = time.monotonic()
            services.load(requests, clients)
            print(round(time.monotonic() - begin, 3), flush=True)


if __name__ == "__main__":
    main()
