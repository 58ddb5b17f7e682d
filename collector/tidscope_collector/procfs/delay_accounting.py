"""The kernel's switch for delay accounting: its state, the time it was enabled, and setting it.

Source: kernel/delayacct.c (sysctl task_delayacct, since 5.14). A thread gets a record of delays
when it starts, only while the switch is on. While it is off, records do not change.
"""

import errno
import os
import threading
import time
from collections.abc import Callable

from tidscope_collector.procfs.files import ProcFs

SWITCH = "sys/kernel/task_delayacct"
"""Path of the switch below the root of /proc."""

_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_BOOT_OPTION = "delayacct"


class SwitchRefusedError(Exception):
    """The switch could not be set; the text says why.

    Attributes:
        hint: suggested fix.
    """

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


class DelayAccounting:
    """The switch as observed by this process. Thread-safe.

    Args:
        procfs: root of /proc.
        clock_ns: CLOCK_MONOTONIC, in nanoseconds.
        write: writes a value to the switch or raises OSError; by default this process writes.
    """

    def __init__(
        self,
        procfs: ProcFs,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        write: Callable[[bytes], None] | None = None,
    ) -> None:
        self._procfs = procfs
        self._clock_ns = clock_ns
        self._write = write or self._write_here
        self._lock = threading.Lock()
        self._on_since_ns: int | None = None
        if self._read():
            # Enabled at boot, every thread has a record; otherwise only threads that start from now
            # on.
            self._on_since_ns = 0 if self._since_boot() else clock_ns()

    def state(self) -> bool | None:
        """Return True if the switch is on, or None if it does not exist."""
        with self._lock:
            return self._note(self._read())

    def on_since_ns(self) -> int | None:
        """Return since when every new thread has a record (CLOCK_MONOTONIC), or None while off."""
        with self._lock:
            self._note(self._read())
            return self._on_since_ns

    def set(self, on: bool) -> None:
        """Set the switch, for the whole machine.

        Raises:
            SwitchRefusedError: the kernel lacks the switch, or does not permit it.
        """
        value = b"1" if on else b"0"
        with self._lock:
            try:
                self._write(value)
            except FileNotFoundError:
                raise SwitchRefusedError(
                    "this kernel has no kernel.task_delayacct",
                    "Boot Linux 5.14 or newer with CONFIG_TASK_DELAY_ACCT=y.",
                ) from None
            except OSError as error:
                if error.errno not in _FORBIDDEN:
                    raise
                needed = "it needs root with CAP_SYS_ADMIN"
                if error.errno == errno.EROFS:
                    needed = "/proc/sys is mounted read-only here"
                command = f"sysctl -w kernel.task_delayacct={value.decode()}"
                raise SwitchRefusedError(
                    f"kernel.task_delayacct cannot be written: {error.strerror}; {needed}",
                    f"On the host: {command}" if os.geteuid() == 0 else f"sudo {command}",
                ) from None
            found = self._note(self._read())
        if found is not on:
            raise SwitchRefusedError(
                f"kernel.task_delayacct was written and is still {'off' if on else 'on'}",
                "Another program sets it; check /etc/sysctl.d.",
            )

    def _write_here(self, value: bytes) -> None:
        file = os.open(self._procfs.path(SWITCH), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, value)
        finally:
            os.close(file)

    def _note(self, on: bool | None) -> bool | None:
        if not on:
            self._on_since_ns = None
        elif self._on_since_ns is None:
            # The switch was turned on at an unknown earlier time.
            self._on_since_ns = self._clock_ns()
        return on

    def _read(self) -> bool | None:
        try:
            return self._procfs.read(SWITCH, 16).strip() != b"0"
        except OSError:
            return None

    def _since_boot(self) -> bool:
        try:
            options = self._procfs.read("cmdline", 65536)
        except OSError:
            return False
        return _BOOT_OPTION in options.decode("ascii", "replace").split()
