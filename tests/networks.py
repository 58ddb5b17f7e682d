"""A host behind a network that can be cut: a namespace, joined to this one by a veth pair."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address

from capabilities import missing

POOL = int(ip_address("198.18.0.0"))
"""First address of the network for benchmarks (RFC 2544), which nobody routes."""
PAIRS = 32_000
"""Networks of four addresses that fit."""


@dataclass(frozen=True)
class FarHost:
    """A namespace with one address.

    Attributes:
        address: its address, reached from here.
        within: a command that runs its arguments there.
        link: this end of the pair.
    """

    address: str
    within: tuple[str, ...]
    link: str

    def cut(self) -> None:
        """Lose each packet from now on, as a pulled cable does; no end is notified."""
        _ip("link", "set", self.link, "down")

    def join(self) -> None:
        """Let packets pass again."""
        _ip("link", "set", self.link, "up")


@contextmanager
def far_host() -> Iterator[FarHost]:
    """Make a namespace, and remove it at the end with all that is in it."""
    number = os.getpid()
    name, here, there = f"tidscope-{number}", f"ts{number}a", f"ts{number}b"
    near = ip_address(POOL + 4 * (number % PAIRS) + 1)
    try:
        _ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        raise missing("network-namespace", str(error)) from None
    try:
        _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        _ip("address", "add", f"{near}/30", "dev", here)
        _ip("-n", name, "address", "add", f"{near + 1}/30", "dev", there)
        _ip("-n", name, "link", "set", there, "up")
        _ip("link", "set", here, "up")
        yield FarHost(str(near + 1), ("ip", "netns", "exec", name), here)
    finally:
        _ip("netns", "del", name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)
