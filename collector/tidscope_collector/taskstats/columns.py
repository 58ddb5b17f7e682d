"""From the members of struct taskstats to the columns of the field catalogue."""

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField, CatalogueField

from tidscope_collector.taskstats.layout import Layout

_FIELDS = {field.name: field for field in CATALOGUE.fields}


def is_delay(name: str) -> bool:
    """Whether a field of the catalogue comes from delay accounting."""
    # Run-queue delay comes from the scheduler and is there always.
    return _FIELDS[name].group == "wait" and not name.startswith("cpu_")


class Columns:
    """Members of a struct that make up a field.

    Args:
        layout: the kernel's layout.
        delay_accounting: whether kernel.task_delayacct is on.
        network: whether the network fields are wanted, where an extended struct has them.

    Attributes:
        base: columns, in the order of the catalogue.
        fields: names of the same.
        absent: further fields of the catalogue, with the reasons.
    """

    def __init__(self, layout: Layout, *, delay_accounting: bool, network: bool = True) -> None:
        base: list[tuple[str, str]] = []
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
                base.append((field.name, member))
        self.base = tuple(base)
        self.fields = tuple(name for name, _ in base)
        self.absent = tuple(absent)


def _missing(field: CatalogueField, layout: Layout) -> str:
    if field.group == "network":
        return (
            "a stock kernel has no network counters per thread: "
            "they need the extended struct taskstats or eBPF"
        )
    if field.group == "state":
        return "the ledger of states needs eBPF"
    return f"needs taskstats version {field.since_version}; this kernel has {layout.version}"
