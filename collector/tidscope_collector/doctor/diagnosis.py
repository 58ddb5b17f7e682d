"""The doctor's report on this machine: facts are gathered, taskstats and eBPF are tried."""

import os

from tidscope_wire.generated.models import DoctorReport

from tidscope_collector.discovery import loading as discovery
from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.doctor.facts import gather_facts
from tidscope_collector.doctor.report import examine
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.netacct import loading as netacct
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.columns import Columns
from tidscope_collector.taskstats.exits import (
    EXIT_BUFFER_BYTES,
    ExitListener,
    exit_self_test,
    possible_cpus,
)
from tidscope_collector.taskstats.link import (
    Kernel,
    TaskstatsUnavailableError,
    UnknownStructError,
    granted_buffer,
    probe,
    resolve_family,
)


class LiveProbe:
    """What this machine's kernel answered when this was made."""

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
        except UnknownStructError as error:
            self.refusal, self.version, self.length = str(error), error.version, error.length
            return
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
    """The result of loading an eBPF program; it is unloaded again.

    Args:
        found: the loaded program, or why there is none.
        limits: what it does not do here.
    """

    def __init__(self, found: Accounts | TaskIterators | Obstacle, limits: str = "") -> None:
        self.refusal, self.fix, self.limits = "", "", limits
        self.capabilities: tuple[str, ...] = ()
        if isinstance(found, Obstacle):
            self.refusal, self.fix = found.reason, found.fix
            self.capabilities = found.capabilities
        else:
            found.close()


def diagnose() -> DoctorReport:
    """Run all checks."""
    procfs = ProcFs()
    accounts = netacct.load(procfs)
    missing = ""
    if isinstance(accounts, Accounts):
        missing = netacct.limits(splice=accounts.splice, release=os.uname().release)
    return examine(
        gather_facts(), LiveProbe(), LiveEbpf(accounts, missing), LiveEbpf(discovery.load(procfs))
    )
