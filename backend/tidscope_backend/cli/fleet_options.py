"""Options of collectors and backends that meet over NATS, and keys for them."""

import argparse
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from tidscope_wire.proof import HOST_NAME

from tidscope_backend.cli.command import CommandError, print_lines
from tidscope_backend.nats_link.keys import KeyFileError, read_seed
from tidscope_backend.nats_link.subjects import BACKEND_PERMISSIONS, Subjects
from tidscope_backend.settings import MAX_FLEET_HOSTS, FleetSettings, Settings

SCHEMES = ("nats", "tls")


def add_fleet_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of NATS servers.

    Args:
        parser: parser of a command.
        what: what is done over NATS.
    """
    parser.add_argument(
        "--fleet",
        metavar="URL[,URL]",
        help=f"{what} over these NATS servers, such as nats://127.0.0.1:4222, or tls://… "
        "(docs/fleet.md)",
    )
    parser.add_argument(
        "--fleet-key",
        type=Path,
        metavar="FILE",
        help="file with the NKey seed for them, which `tidscope hosts nats-key` makes",
    )


def fleet_arguments(options: argparse.Namespace) -> list[str]:
    """Return the options as arguments of another command."""
    if options.fleet is None:
        return []
    key = options.fleet_key
    return ["--fleet", options.fleet, *([] if key is None else ["--fleet-key", str(key)])]


def fleet_settings(options: argparse.Namespace) -> FleetSettings | None:
    """Return how the servers are reached; None without servers.

    Raises:
        CommandError: an address or the key cannot be used, or the client is not installed.
    """
    if options.fleet is None:
        return None
    _need_client()
    servers = tuple(options.fleet.split(","))
    for url in servers:
        try:
            parts = urlsplit(url)
            good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good:
            raise CommandError(f"--fleet {url}: not an address such as nats://127.0.0.1:4222")
    try:
        seed = "" if options.fleet_key is None else read_seed(options.fleet_key)
    except KeyFileError as error:
        raise CommandError(str(error)) from None
    return FleetSettings(servers, seed)


def with_fleet(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return settings with the servers, and room for the hosts that are found there. Raises as
    `fleet_settings`."""
    fleet = fleet_settings(options)
    if fleet is None:
        return settings
    return replace(settings, fleet=fleet, max_collectors=settings.max_collectors + MAX_FLEET_HOSTS)


def host_name(text: str) -> str:
    """Read the name of a host."""
    if not HOST_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name of up to 63 characters of a-z, 0-9, dot and hyphen"
        )
    return text


def make_key(file: Path, host: str | None) -> None:
    """Write a new NKey seed to a file, and print its user for the configuration of the servers.

    Args:
        file: file that is made, for its owner alone.
        host: name of the host that the key is for; None: for backends.

    Raises:
        CommandError: the file exists or cannot be written, or the client is not installed.
    """
    _need_client()
    import nkeys

    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as writing:
            writing.write(seed + b"\n")
    except OSError as error:
        raise CommandError(f"{file} cannot be made: {error.strerror}") from None
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()
    permissions = BACKEND_PERMISSIONS if host is None else Subjects(host).permissions()
    print_lines(f"{{ nkey: {public}, permissions: {permissions} }}", flush=True)


def _need_client() -> None:
    if find_spec("nats") is None or find_spec("nkeys") is None:
        raise CommandError("NATS needs its client: pip install 'tidscope[fleet]'")
