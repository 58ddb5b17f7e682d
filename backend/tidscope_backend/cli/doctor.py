"""`tidscope doctor`: measurement capabilities of this machine, as a table or as JSON."""

import argparse
import shutil
import subprocess
import textwrap
from collections.abc import Iterator

from pydantic import ValidationError
from tidscope_wire.generated.models import DoctorCheck, DoctorReport

from tidscope_backend.cli.collect import (
    collector_command,
    warn_if_others_may_change_it,
)
from tidscope_backend.cli.command import Command, CommandError, print_lines

WORD_WIDTH = 9
MAX_WIDTH = 100
NOT_PERMITTED = 4
"""Exit code of a collector without permission to set the switch."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    switch = parser.add_mutually_exclusive_group()
    switch.add_argument(
        "--enable-delay-accounting",
        dest="delays",
        action="store_const",
        const="on",
        help="first enable the kernel's delay accounting for I/O and memory (needs root)",
    )
    switch.add_argument(
        "--disable-delay-accounting",
        dest="delays",
        action="store_const",
        const="off",
        help="first disable it again",
    )


def _run(options: argparse.Namespace) -> int:
    """Print the report. Return 1 if a check failed."""
    warn_if_others_may_change_it()
    setting = () if options.delays is None else ("--delay-accounting", options.delays)
    done = subprocess.run(
        collector_command("doctor", "--json", *setting), stdout=subprocess.PIPE, check=False
    )
    if setting and done.returncode == NOT_PERMITTED:
        raise CommandError(f"delay accounting was not switched {options.delays}; see above")
    try:
        report = DoctorReport.model_validate_json(done.stdout)
    except ValidationError:
        raise CommandError(
            f"the collector gave no report (exit code {done.returncode}); see its output above"
        ) from None
    if options.json:
        print_lines(*report.model_dump_json(indent=2).split("\n"))
    else:
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        print_lines(*table(report, width))
    return 1 if any(check.status == "failed" for check in report.checks) else 0


def table(report: DoctorReport, width: int) -> Iterator[str]:
    """Lay a report out for the terminal, in lines of at most `width` columns."""
    yield f"{report.host}, Linux {report.kernel}: {report.status}"
    yield ""
    for check in report.checks:
        yield from _lines(check, width)


def _lines(check: DoctorCheck, width: int) -> Iterator[str]:
    indent = " " * WORD_WIDTH
    word = check.status.upper() if check.status == "failed" else check.status
    yield from textwrap.wrap(
        f"{check.title}: {check.finding}",
        width,
        initial_indent=word.ljust(WORD_WIDTH),
        subsequent_indent=indent,
    )
    for label, text in (("impact", check.impact), ("fix", check.fix)):
        if text:
            # Commands must be copyable: add no hyphens and break no words.
            yield from textwrap.wrap(
                f"{label}: {text}",
                width,
                initial_indent=indent,
                subsequent_indent=indent + "      ",
                break_long_words=False,
                break_on_hyphens=False,
            )


COMMAND = Command(
    name="doctor",
    help="check what this machine lets tidscope measure, and how to fix the rest",
    add_arguments=_add_arguments,
    run=_run,
)
