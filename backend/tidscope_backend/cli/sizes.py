"""`tidscope sizes`: pools whose sizes do not fit the CPUs available to their programs."""

import argparse
import textwrap
from collections.abc import Iterator

from tidscope_wire.generated.models import CpuAllowance, SizeAudit, SizedProgram

from tidscope_backend.cli.backend_client import running_backend
from tidscope_backend.cli.command import Command, print_lines
from tidscope_backend.cli.server_options import add_backend_options

WIDTH = 100
INDENT = " " * 4


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="list programs that fit, too")
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the audit as JSON")


def _run(options: argparse.Namespace) -> int:
    """Print the audit. Return 1 if a pool does not fit."""
    with running_backend(options) as backend:
        audit = backend.request_model("/sizes", SizeAudit)
    if options.json:
        print_lines(*audit.model_dump_json(indent=2).split("\n"))
    else:
        print_lines(*table(audit, fitting=options.all))
    return 1 if any(is_wrong(one) for one in audit.programs) else 0


def is_wrong(program: SizedProgram) -> bool:
    """Return True if the program's size is known not to fit."""
    return program.verdict in ("too-large", "too-small")


def table(audit: SizeAudit, *, fitting: bool) -> Iterator[str]:
    """Lay an audit out for the terminal.

    Args:
        audit: audit of a host.
        fitting: whether to list programs that fit, too.
    """
    wrong = sum(is_wrong(one) for one in audit.programs)
    count = len(audit.programs)
    yield f"{wrong} of {count} pool{'' if count == 1 else 's'} set wrong"
    for one in audit.programs:
        if fitting or one.verdict != "fits":
            yield from _lines(one)
    if audit.omitted:
        yield f"{audit.omitted} more were not looked at"


def _lines(program: SizedProgram) -> Iterator[str]:
    process = program.process
    yield ""
    version = process.runtime_version or "version not known"
    yield f"{program.verdict:9} {program.pool} of {process.name} (pid {process.pid}, {version})"
    yield from textwrap.wrap(program.why, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    yield INDENT + "; ".join(_allowed(program.allowance))
    if program.change is not None:
        yield f"{INDENT}change: {program.change}"


def _allowed(allowance: CpuAllowance) -> Iterator[str]:
    yield f"affinity {allowance.cpus}"
    if allowance.limit_cores is not None:
        yield f"limit {allowance.limit_cores:g} cores of {allowance.limit_group}"
    if allowance.periods and allowance.throttled is not None:
        yield f"throttled in {allowance.throttled / allowance.periods:.1%} of periods"
    if allowance.weight is not None:
        yield f"weight {allowance.weight}"
    if allowance.request_cores is not None:
        yield f"request {allowance.request_cores:g} cores"


COMMAND = Command(
    name="sizes",
    help="list pools of programs whose sizes do not fit the CPUs that they may use",
    description="List pools of a host's programs whose sizes do not fit what the programs may use "
    "(their affinity and the CPU limits of their control groups), with the line to change: "
    "GOMAXPROCS of Go programs, active processors of Java virtual machines, and what agents "
    "report. Exits with 1 if there are any.",
    add_arguments=_add_arguments,
    run=_run,
)
