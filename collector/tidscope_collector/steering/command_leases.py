"""Leases of steering: it ends unless whoever asked for it renews it.

A command that is killed cannot release what it steers. Agents' leases and those of CPU affinity
(`loop/affinity_leases.py`) restore sizes after the end of a collector, not of a command.
"""

import threading
from collections.abc import Callable


class SteeringLeases:
    """Leases of steering commands. Methods may be called from several threads.

    Args:
        lapse: releases a target whose lease was not renewed; called by a thread of its own.
    """

    def __init__(self, lapse: Callable[[str], None]) -> None:
        self._lapse = lapse
        self._lock = threading.Lock()
        self._timers: dict[str, threading.Timer] = {}

    def hold(self, target: str, lease_s: float | None) -> None:
        """Begin a lease, instead of the one that there was.

        Args:
            target: what is steered.
            lease_s: how long it lasts, in seconds; None: steering needs no lease.
        """
        with self._lock:
            self._cancel(target)
            if lease_s is not None:
                self._start(target, lease_s)

    def renew(self, target: str) -> None:
        """Let a lease begin again; nothing happens without one."""
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
                return  # It was renewed or dropped meanwhile.
            del self._timers[target]
        self._lapse(target)
