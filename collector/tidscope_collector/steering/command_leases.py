"""Leases of steering commands: steering ends unless the command renews its lease.

A killed command cannot release what it steers. Leases of agents and of CPU affinity
(`loop/affinity_leases.py`) cover only the end of a collector.
"""

import threading
from collections.abc import Callable


class SteeringLeases:
    """Leases of steering commands. Thread-safe.

    Args:
        lapse: releases a target whose lease expired; called by a separate thread.
    """

    def __init__(self, lapse: Callable[[str], None]) -> None:
        self._lapse = lapse
        self._lock = threading.Lock()
        self._timers: dict[str, threading.Timer] = {}

    def hold(self, target: str, lease_s: float | None) -> None:
        """Start a lease, replacing the target's previous one.

        Args:
            target: steered target.
            lease_s: duration in seconds, or None if steering needs no lease.
        """
        with self._lock:
            self._cancel(target)
            if lease_s is not None:
                self._start(target, lease_s)

    def renew(self, target: str) -> None:
        """Restart a lease; does nothing without one."""
        with self._lock:
            before = self._cancel(target)
            if before is not None:
                self._start(target, before.interval)

    def drop(self, target: str) -> None:
        """End a lease without releasing its target. Idempotent."""
        with self._lock:
            self._cancel(target)

    def close(self) -> None:
        """Drop all leases."""
        with self._lock:
            for target in list(self._timers):
                self._cancel(target)

    def _cancel(self, target: str) -> threading.Timer | None:
        timer = self._timers.pop(target, None)
        if timer is not None:
            timer.cancel()
        return timer

    def _start(self, target: str, lease_s: float) -> None:
        timer = threading.Timer(lease_s, lambda: self._end(target, timer))
        timer.name = f"lease-{target}"
        timer.daemon = True
        self._timers[target] = timer
        timer.start()

    def _end(self, target: str, timer: threading.Timer) -> None:
        with self._lock:
            if self._timers.get(target) is not timer:
                return  # the lease was renewed or dropped meanwhile
            del self._timers[target]
        self._lapse(target)
