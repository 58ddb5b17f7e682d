"""Jaeger's all-in-one, which keeps traces in memory."""

import os
from pathlib import Path

from ports import free_ports
from processes import wait_until
from programs.build import build_go_package
from programs.hotrod import listens
from programs.running import RunningProgram

MODULE, VERSION = "github.com/jaegertracing/jaeger", "v1.76.0"
_PORTS = (
    "collector.otlp.http",
    "query.http-server",
    "query.grpc-server",
    "collector.otlp.grpc",
    "collector.grpc-server",
    "collector.http-server",
    "admin.http",
)


def build_jaeger() -> Path:
    """Build the executable. Raises RuntimeError if it or its modules are unavailable."""
    return build_go_package(MODULE, VERSION, "cmd/all-in-one")


class Jaeger(RunningProgram):
    """A running one; use it in a ``with`` statement.

    Attributes:
        spans: address of its receiver of OTLP/HTTP.
        query: port of its query service.
    """

    def __init__(self) -> None:
        ports = free_ports(len(_PORTS))
        options = [
            f"--{name}.host-port=127.0.0.1:{port}" for name, port in zip(_PORTS, ports, strict=True)
        ]
        super().__init__(
            ["sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh", build_jaeger(), *options],
            {**os.environ, "OTEL_TRACES_SAMPLER": "always_off"},
        )
        self.spans = f"http://127.0.0.1:{ports[0]}/v1/traces"
        self.query = ports[1]
        try:
            wait_until(lambda: listens(ports[0]) and listens(self.query), 120)
        except BaseException:
            self.close()
            raise
