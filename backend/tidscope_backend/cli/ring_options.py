"""Options of the ring: how much of the last minutes is kept."""

import argparse

from tidscope_backend.cli.server_options import not_negative, positive_number


def add_ring_options(parser: argparse.ArgumentParser) -> None:
    """Add what the ring keeps."""
    parser.add_argument(
        "--keep-minutes",
        type=not_negative,
        default=0.0,
        metavar="N",
        help="keep the last N minutes of all targets at full rate on this host, from which runs "
        "are cut: `tidscope runs cut`, or the page (default: keep none; 60 is an hour)",
    )
    parser.add_argument(
        "--keep-mb",
        type=positive_number,
        default=512.0,
        metavar="N",
        help="delete the oldest of them when all exceed N MB (%(default)g)",
    )
