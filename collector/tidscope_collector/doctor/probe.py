"""What the checks need from taskstats and eBPF; a test passes its own."""

from typing import Protocol


class TaskstatsProbe(Protocol):
    """What taskstats answered on this machine.

    Attributes:
        family_id: of the generic netlink family TASKSTATS; None if the kernel has none.
        version: of the struct, as in a reply; None if there was no reply.
        length: of the struct in bytes; None if there was no reply.
        layout_name: of the layout chosen for it; None if there is none.
        refusal: why there was no reply, or is no layout; empty if there is one.
        fields: names in the field catalogue that the layout gives.
        receive_buffer_bytes: what the kernel granted to an exit listener's socket, as getsockopt
            reports it; None if there was none.
    """

    @property
    def family_id(self) -> int | None: ...

    @property
    def version(self) -> int | None: ...

    @property
    def length(self) -> int | None: ...

    @property
    def layout_name(self) -> str | None: ...

    @property
    def refusal(self) -> str: ...

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def receive_buffer_bytes(self) -> int | None: ...

    def exit_self_test(self) -> bool:
        """Start a thread and wait for its exit totals; False if they did not arrive.

        Raises:
            OSError: listening was refused.
        """


class EbpfProbe(Protocol):
    """Whether the kernel loads an eBPF program: for network bytes, or for the list of threads.

    Attributes:
        refusal: why not, as one sentence without its full stop; empty if it does.
        fix: what to do about it; empty if nothing helps, or if capabilities do.
        capabilities: names of those that are missing.
        limits: what it does not count here; empty if it counts everything it should.
    """

    @property
    def refusal(self) -> str: ...

    @property
    def fix(self) -> str: ...

    @property
    def capabilities(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> str: ...
