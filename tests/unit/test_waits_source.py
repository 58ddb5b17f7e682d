"""Columns of a ledger on a kernel, and reasons for missing ones."""

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.programs import LedgerProgram
from tidscope_collector.waits.source import FIELDS, THROTTLED, LedgerOptions, LedgerSource
from tidscope_wire.generated.models import AbsentField

OLDER = "Linux 6.12 has no throttling of single threads (new in 6.18)"
ABSENT = [
    AbsentField(field=field, reason="not of taskstats")
    for field in ("cpu_run_ns", "state_futex_ns", THROTTLED)
]


def source(no_throttling: str | None) -> LedgerSource:
    """Ledgers by a program that is not loaded."""
    made = LedgerSource(LedgerOptions("off"), ProcFs())
    program = LedgerProgram.__new__(LedgerProgram)
    program.no_throttling = no_throttling
    made.ebpf = program
    return made


def test_a_kernel_that_tells_who_is_throttled_has_all_columns() -> None:
    ledger = source(None)
    assert ledger.fields == FIELDS
    assert ledger.explain(ABSENT) == ABSENT[:1]


def test_a_kernel_that_does_not_lacks_that_column_and_says_why() -> None:
    ledger = source(OLDER)
    assert ledger.fields == tuple(field for field in FIELDS if field != THROTTLED)
    assert ledger.explain(ABSENT) == [ABSENT[0], AbsentField(field=THROTTLED, reason=OLDER)]


def test_without_ledgers_all_columns_have_the_same_reason() -> None:
    ledger = LedgerSource(LedgerOptions("off"), ProcFs())
    assert ledger.fields == ()
    reasons = [one.reason for one in ledger.explain(ABSENT)]
    assert reasons == ["not of taskstats", ledger.reason, ledger.reason]
