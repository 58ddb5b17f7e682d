"""`tidscope query`: SQL about the totals by role of all hosts."""

import argparse
import json
from pathlib import Path

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.server_options import add_runs_dir_option, chosen_runs_directory

EXAMPLE = """\
the view roles has a row for each role of each target every ten seconds; counters are cumulative
since attach, so what a role did is the greatest value minus the least of each target:

  tidscope query "
    select host_name, program, role, (max(cpu_run_ns) - min(cpu_run_ns)) / 1e9 as cpu_s
    from roles where time > now() - interval 1 day
    group by host_name, program, role, target order by cpu_s desc limit 20"
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sql", help="a query; describe roles lists the columns")
    add_runs_dir_option(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON object for each row")


def _run(options: argparse.Namespace) -> int:
    """Print the rows that a query gives."""
    import duckdb

    from tidscope_backend.fleet.queries import connect
    from tidscope_backend.fleet.role_table import FOLDER, NoTableError

    runs: Path = chosen_runs_directory(options)
    try:
        with connect(runs / FOLDER) as database:
            found = database.sql(options.sql)
            if found is None:
                return 0
            if options.json:
                rows = found.to_arrow_table().to_pylist()
                print_lines(*(json.dumps(row, default=str) for row in rows))
            else:
                print_lines(*str(found).rstrip("\n").split("\n"))
    except (NoTableError, OSError, duckdb.Error) as error:
        raise CommandError(str(error)) from None
    return 0


COMMAND = Command(
    name="query",
    help="ask in SQL about the totals by role that --keep-roles-days keeps",
    epilog=EXAMPLE,
    add_arguments=_add_arguments,
    run=_run,
)
