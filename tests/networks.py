"""A host behind a network that can be cut, slow and lossy: a namespace, reached by tun devices.

Packets between the two devices go through a thread of the test, so no queueing discipline of the
kernel is needed.
"""

import fcntl
import heapq
import math
import os
import random
import select
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import count

from capabilities import missing

POOL = int(ip_address("198.18.0.0"))
"""First address of the network for benchmarks (RFC 2544), which nobody routes."""
PAIRS = 32_000
"""Networks of four addresses that fit."""
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MAX_PACKET = 65_536


class Wire(threading.Thread):
    """Carries packets between two tun devices.

    Attributes:
        cut: lose each packet, as a pulled cable does; no end is notified.
        delay_s: time that a packet takes, in seconds.
        loss: share of packets that are lost, from 0 to 1.
        lost: packets lost by `loss`.
    """

    def __init__(self, here: int, there: int) -> None:
        super().__init__(name="wire", daemon=True)
        self.cut = False
        self.delay_s = self.loss = 0.0
        self.lost = 0
        self._ends = {here: there, there: here}
        self._random = random.Random(0)
        self._numbers = count()
        self._under_way: list[tuple[float, int, int, bytes]] = []
        self._bell = os.eventfd(0)

    def run(self) -> None:
        """Carry packets until `stop`."""
        # A worker may have more descriptors than select(2) takes.
        poll = select.poll()
        for descriptor in (*self._ends, self._bell):
            poll.register(descriptor, select.POLLIN)
        while True:
            wait = self._under_way[0][0] - time.monotonic() if self._under_way else None
            found = poll.poll(None if wait is None else max(0, math.ceil(1000 * wait)))
            ready = [descriptor for descriptor, _ in found]
            if self._bell in ready:
                return
            for end in ready:
                self._take(end)
            while self._under_way and self._under_way[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(self._under_way)
                with suppress(OSError):  # The device is full; networks lose packets.
                    os.write(end, packet)

    def _take(self, end: int) -> None:
        packet = os.read(end, MAX_PACKET)
        is_lost = self._random.random() < self.loss
        self.lost += is_lost
        if not self.cut and not is_lost:
            due = time.monotonic() + self.delay_s
            item = (due, next(self._numbers), self._ends[end], packet)
            heapq.heappush(self._under_way, item)

    def stop(self) -> None:
        """End the thread."""
        os.eventfd_write(self._bell, 1)
        self.join()
        os.close(self._bell)


@dataclass(frozen=True)
class FarHost:
    """A namespace with one address.

    Attributes:
        address: its address, reached from here.
        within: a command that runs its arguments there.
        wire: what its packets go through.
    """

    address: str
    within: tuple[str, ...]
    wire: Wire

    def reset(self) -> None:
        """End the connections to it on this side, as a kernel does that waited long enough."""
        _run("ss", "--kill", "--tcp", "dst", self.address)


@contextmanager
def far_host() -> Iterator[FarHost]:
    """Make a namespace, and remove it at the end with all that is in it."""
    number = os.getpid()
    name, near_device, far_device = f"tidscope-{number}", f"ts{number}a", f"ts{number}b"
    near = ip_address(POOL + 4 * (number % PAIRS) + 1)
    with ExitStack() as stack:
        try:
            _run("ip", "netns", "add", name)
            stack.callback(_run, "ip", "netns", "del", name)
            ends = [_tun(device, stack) for device in (near_device, far_device)]
            _run("ip", "link", "set", far_device, "netns", name)
        except (OSError, subprocess.CalledProcessError) as error:
            raise missing("network-namespace", str(error)) from None
        _run("ip", "address", "add", f"{near}/30", "dev", near_device)
        _run("ip", "link", "set", near_device, "up")
        _run("ip", "-n", name, "address", "add", f"{near + 1}/30", "dev", far_device)
        _run("ip", "-n", name, "link", "set", far_device, "up")
        wire = Wire(*ends)
        wire.start()
        stack.callback(wire.stop)
        yield FarHost(str(near + 1), ("ip", "netns", "exec", name), wire)


def _tun(device: str, stack: ExitStack) -> int:
    """Make a tun device that goes when its descriptor is closed; returns the descriptor."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    stack.callback(os.close, end)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    return end


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=60)
