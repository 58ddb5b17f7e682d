"""Where an OpenTelemetry collector takes metrics."""

from urllib.parse import urlsplit

METRICS_PATH = "/v1/metrics"
"""Below its base address (OTLP specification, OTLP/HTTP)."""


def metrics_address(endpoint: str) -> str:
    """The address that metrics are sent to; a base address gets the usual path.

    Raises:
        ValueError: it is not the address of an HTTP server.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"{endpoint!r} is no address such as http://localhost:4318")
    if parts.path in ("", "/"):
        return parts._replace(path=METRICS_PATH).geturl()
    return endpoint
