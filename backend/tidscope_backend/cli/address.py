"""The options that say where the backend is, shared by the verbs that start one."""

import argparse

from tidscope_backend.settings import DEFAULT_HOST, DEFAULT_PORT

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


def port(text: str) -> int:
    """Read a port number; 0 lets the kernel choose."""
    if not text.isdigit() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give one from 1 to {MAX_PORT}")
    return int(text)
