"""`tidscope doctor`: what this machine lets tidscope measure, as a table or as JSON."""

import argparse
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence

from pydantic import ValidationError
from tidscope_wire.generated.models import DoctorCheck, DoctorReport

from tidscope_backend.cli.collector import collector_command
from tidscope_backend.cli.failure import CommandError

WORD_WIDTH = 9
MAX_WIDTH = 100
NOT_PERMITTED = 4
"""Exit code of a collector that could not set the switch."""


def run(arguments: Sequence[str]) -> int:
    """Print the report; the exit code is 1 if anything failed."""
    parser = argparse.ArgumentParser(
        prog="tidscope doctor",
        description="Say what this machine lets tidscope measure, what is lost, what mends it.",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    switch = parser.add_mutually_exclusive_group()
    switch.add_argument(
        "--enable-delay-accounting",
        dest="delays",
        action="store_const",
        const="on",
        help="first switch on the kernel's accounting of waits for I/O and memory (as root)",
    )
    switch.add_argument(
        "--disable-delay-accounting",
        dest="delays",
        action="store_const",
        const="off",
        help="first switch it off again",
    )
    options = parser.parse_args(arguments)
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
            f"the collector gave no report (exit code {done.returncode}); its words stand above"
        ) from None
    if options.json:
        sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    else:
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        sys.stdout.write("\n".join(table(report, width)) + "\n")
    return 1 if any(check.status == "failed" for check in report.checks) else 0


def table(report: DoctorReport, width: int) -> Iterator[str]:
    """Lay a report out for a person, in lines of at most `width` columns."""
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
            # A command must be copied as it is: no hyphen of ours in it, no word cut.
            yield from textwrap.wrap(
                f"{label}: {text}",
                width,
                initial_indent=indent,
                subsequent_indent=indent + "      ",
                break_long_words=False,
                break_on_hyphens=False,
            )
