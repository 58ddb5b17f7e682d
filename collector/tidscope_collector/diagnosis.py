"""Taskstats as the doctor asks about it."""

import os

from tidscope_wire.generated.models import DoctorReport

from tidscope_collector.doctor.facts import look
from tidscope_collector.doctor.report import examine
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.obstacles import limits, load
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sources import exit_self_test
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.exits import EXIT_BUFFER_BYTES, ExitListener, possible_cpus
from tidscope_collector.taskstats.link import (
    Kernel,
    TaskstatsUnavailableError,
    granted_buffer,
    probe,
    resolve_family,
)


class LiveProbe:
    """Asks this machine's kernel, once, when made."""

    def __init__(self) -> None:
        self.family_id: int | None = None
        self.version: int | None = None
        self.length: int | None = None
        self.layout_name: str | None = None
        self.refusal = ""
        self.fields: tuple[str, ...] = ()
        self.receive_buffer_bytes: int | None = granted_buffer(EXIT_BUFFER_BYTES)
        self._kernel: Kernel | None = None
        try:
            self.family_id = resolve_family()
            kernel = self._kernel = probe()
        except TaskstatsUnavailableError as error:
            self.refusal = str(error)
            return
        self.version, self.length = kernel.layout.version, kernel.layout.length
        self.layout_name = kernel.layout.name
        self.fields = Columns(kernel.layout, delay_accounting=True).fields

    def exit_self_test(self) -> bool:
        """Whether the exit of a thread is heard.

        Raises:
            OSError: the kernel refused to register us.
        """
        kernel = self._kernel
        if kernel is None:
            return False
        try:
            return exit_self_test(lambda: ExitListener(kernel, possible_cpus()))
        except TaskstatsUnavailableError as error:
            raise OSError(str(error)) from error


class LiveEbpf:
    """Loads the program that counts network bytes and takes it out again, once, when made."""

    def __init__(self) -> None:
        self.refusal, self.mend, self.limits = "", "", ""
        found = load(ProcFs())
        if isinstance(found, Accounts):
            self.limits = limits(splice=found.splice, release=os.uname().release)
            found.close()
        else:
            self.refusal, self.mend = found.what, found.mend


def diagnose() -> DoctorReport:
    """Check everything."""
    return examine(look(), LiveProbe(), LiveEbpf())
