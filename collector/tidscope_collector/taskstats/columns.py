"""From the words of struct taskstats to the columns of the field catalogue."""

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField, CatalogueField

from tidscope_collector.taskstats.layout import Layout

COMM_WORDS = 2
"""TASK_COMM_LEN is 16: the rest of ac_comm is zero."""


_FIELDS = {field.name: field for field in CATALOGUE.fields}


def is_delay(name: str) -> bool:
    """Whether a field of the catalogue comes from delay accounting."""
    # Run-queue delay comes from the scheduler and is there always.
    return _FIELDS[name].group == "wait" and not name.startswith("cpu_")


class Columns:
    """Which words of a struct make which field.

    Args:
        layout: the kernel's layout.
        delay_accounting: whether kernel.task_delayacct is on.
        network: whether the network fields are wanted, where an extended struct has them.
    """

    def __init__(self, layout: Layout, *, delay_accounting: bool, network: bool = True) -> None:
        self.layout = layout
        names: list[str] = []
        words: list[int] = []
        absent: list[AbsentField] = []
        for field in CATALOGUE.fields:
            if field.scope != "thread":
                continue
            member = field.taskstats
            hidden = field.group == "network" and not network
            if member is None or member not in layout.offsets or hidden:
                absent.append(AbsentField(field=field.name, reason=_missing(field, layout)))
            elif is_delay(field.name) and not delay_accounting:
                absent.append(
                    AbsentField(
                        field=field.name,
                        reason="delay accounting is off: enable it in Doctor (or: sysctl -w "
                        "kernel.task_delayacct=1), restart the target and attach again",
                    )
                )
            else:
                names.append(field.name)
                words.append(layout.offsets[member] // 8)
        self.fields = tuple(names)
        self.absent = tuple(absent)
        self.delays = np.array([is_delay(name) for name in names], np.bool_)
        comm = layout.offsets["ac_comm"] // 8
        self.words = np.array(words, np.uint64)
        """uint64[F]: of each field the 64-bit word of the struct."""
        self._words = np.array([*words, layout.offsets["ac_etime"] // 8, comm, comm + 1], np.intp)

    def extract(
        self, words: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.bytes_]]:
        """Pick counters, age and name out of structs.

        Args:
            words: uint64[n, length / 8], struct taskstats of n threads.

        Returns:
            uint64[n, F] counters; uint64[n] age in microseconds; S16[n] names.
        """
        picked = words.take(self._words, axis=1)
        count = len(self.fields)
        names = np.ascontiguousarray(picked[:, count + 1 :]).view("S16").reshape(-1)
        return picked[:, :count], picked[:, count], names


def _missing(field: CatalogueField, layout: Layout) -> str:
    if field.group == "network":
        return (
            "a stock kernel has no network counters per thread: "
            "they need the extended struct taskstats or eBPF"
        )
    if field.group == "state":
        return "the ledger of states needs eBPF"
    return f"needs taskstats version {field.since_version}; this kernel has {layout.version}"


def member(words: npt.NDArray[np.uint64], layout: Layout, name: str) -> npt.NDArray[np.uint32]:
    """A 32-bit member of n structs, uint32[n], copied out of them."""
    offset = layout.offsets[name]
    # Not ascontiguousarray: of one struct it makes a view, and the buffer is used again.
    column = words[:, offset // 8].copy().view(np.uint32).reshape(-1, 2)
    return column[:, offset % 8 // 4]
