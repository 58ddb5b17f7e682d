"""The options that say where the backend is, shared by the verbs that start one."""

import argparse
from collections.abc import Mapping

from tidscope_backend.settings import DEFAULT_HOST, DEFAULT_PORT, OTLP_VARIABLE

MAX_PORT = 65535


def add_address_options(parser: argparse.ArgumentParser) -> None:
    """Add them to a verb's parser."""
    parser.add_argument("--host", default=DEFAULT_HOST, help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=port, default=DEFAULT_PORT, help="TCP port (%(default)s)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name under which the page is opened (may be repeated)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="another origin of the page, such as https://NAME behind a proxy (may be repeated)",
    )


def add_otlp_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that sends metrics to an OpenTelemetry collector."""
    parser.add_argument(
        "--otlp-endpoint",
        metavar="URL",
        help="send metrics to an OpenTelemetry collector, such as http://localhost:4318 "
        f"({OTLP_VARIABLE})",
    )


def otlp_environ(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, with what the option says."""
    chosen: str | None = options.otlp_endpoint
    return {**environ, **({} if chosen is None else {OTLP_VARIABLE: chosen})}


def port(text: str) -> int:
    """Read a port number; 0 lets the kernel choose."""
    if not text.isdigit() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give one from 1 to {MAX_PORT}")
    return int(text)
