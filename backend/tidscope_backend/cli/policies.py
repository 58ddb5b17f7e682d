"""`tidscope policies`: list the policies that steer a pool, or test them on simulated pools."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tidscope_policies.parameters import ParameterError, make_parameters
from tidscope_policies.registry import POLICIES
from tidscope_policies.simulation.campaign import Entrant, Plant, Row, entrants

from tidscope_backend.cli import policy_bench
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.policy_bench import Provenance, run_campaign
from tidscope_backend.cli.scenario_files import (
    FAMILIES,
    SHIPPED,
    ScenarioError,
    load,
    load_sweep,
    shipped,
)

SEEDS = 20
MAX_SEEDS = 10_000
ALONE = [name for name, entry in POLICIES.items() if not entry.arbitrated]
"""Policies that steer single programs."""


def _run(options: argparse.Namespace) -> int:
    """List policies or benchmark them. Return 2 if the arguments are invalid."""
    if options.policies_verb == "list":
        _list(as_json=options.json)
        return 0
    policies = options.policy or ALONE
    try:
        those = _entrants(policies, options.set)
        scenarios = chosen(options.scenario, options.only, first=_first(options))
        page = None if options.write is None else options.write.read_text("utf-8")
        if page is not None:
            policy_bench.replaced(page, "")
    except (CommandError, OSError, ValueError) as error:
        print_lines(f"policies bench: {error}", file=sys.stderr)
        return 2
    rows, seconds = _bench(those, scenarios, options)
    if page is not None:
        results = _results(rows, scenarios, options, seconds)
        options.write.write_text(policy_bench.replaced(page, results), "utf-8")
    return 0


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(metavar="SUBCOMMAND", dest="policies_verb", required=True)
    listing = verbs.add_parser(
        "list",
        help="list the policies and their parameters",
        description="List the policies and their parameters.",
    )
    listing.add_argument("--json", action="store_true", help="print JSON")
    bench = verbs.add_parser(
        "bench",
        help="run policies on simulated pools and score them",
        description="Run policies on simulated pools and score them.",
    )
    bench.add_argument(
        "--scenario",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="another scenario, as TOML (repeatable)",
    )
    bench.add_argument(
        "--families",
        action="store_true",
        help="run the families of other programs, not the scenarios",
    )
    bench.add_argument(
        "--sweep",
        type=Path,
        metavar="FILE",
        help="run the program whose curve `tidscope sweep --json` wrote, not the scenarios",
    )
    bench.add_argument(
        "--cpus",
        action="append",
        type=_cpus,
        metavar="N",
        help="CPUs of the simulated host, with --sweep (repeatable)",
    )
    bench.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="SCENARIO",
        help="run only this scenario (repeatable; default: all)",
    )
    bench.add_argument(
        "--policy",
        action="append",
        choices=ALONE,
        help="run only this policy (repeatable; default: all)",
    )
    bench.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=NUMBER[,NUMBER...]",
        help="a parameter of the policies (repeatable); each combination of values is a row",
    )
    bench.add_argument(
        "--seeds",
        type=_seeds,
        default=SEEDS,
        metavar="N",
        help="runs of each pair of them (%(default)s)",
    )
    bench.add_argument(
        "--first-seed",
        type=_first_seed,
        default=0,
        metavar="N",
        help="seed of the first run (%(default)s); ours are tuned on seeds from 1000 on",
    )
    bench.add_argument("--json", action="store_true", help="print the results as JSON")
    bench.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="also write the results between the marks of this page",
    )


def _first(options: argparse.Namespace) -> list[Plant]:
    """Return the scenarios, the families, or the measured program.

    Raises:
        ScenarioError: the options do not fit together, or the curve cannot be used.
    """
    if (options.sweep is None) != (options.cpus is None):
        raise ScenarioError("--sweep and --cpus need each other")
    if options.sweep is None:
        return shipped(FAMILIES if options.families else SHIPPED)
    if options.families:
        raise ScenarioError("--sweep and --families exclude each other")
    programs = load_sweep(options.sweep, sorted({*options.cpus}))
    print_lines(f"policies bench: {programs[0].measured.describe()}", file=sys.stderr)
    return [*programs]


def chosen(
    files: Sequence[Path], only: Sequence[str], *, first: Sequence[Plant] | None = None
) -> list[Plant]:
    """Return the scenarios to run.

    Args:
        files: scenarios of one's own.
        only: names of those to run; empty: all.
        first: others; None: those that come with the program.

    Raises:
        ScenarioError: a file or a name cannot be used.
    """
    scenarios = shipped() if first is None else [*first]
    for path in files:
        found = load(path)
        if found.name in {scenario.name for scenario in scenarios}:
            raise ScenarioError(f"{path}: name: there is another scenario {found.name!r}")
        scenarios.append(found)
    names = {scenario.name for scenario in scenarios}
    for name in only:
        if name not in names:
            raise ScenarioError(f"no scenario {name!r}; there are: {', '.join(sorted(names))}")
    return [scenario for scenario in scenarios if not only or scenario.name in only]


def _entrants(policies: Sequence[str], texts: Sequence[str]) -> list[Entrant]:
    """Return the policies with each combination of parameters.

    Raises:
        CommandError: a text is not NAME=NUMBER[,NUMBER...].
        ParameterError: a policy lacks a parameter, or a value is not allowed.
    """
    settings: dict[str, list[float]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        try:
            settings[name] = [float(value) for value in values.split(",")]
        except ValueError:
            raise CommandError(
                f"--set {text}: use NAME=NUMBER, or several numbers: 0.5,1"
            ) from None
    those = entrants(policies, settings)
    for one in those:
        try:
            make_parameters(POLICIES[one.policy].kind, one.given)
        except ParameterError as error:
            raise ParameterError(f"{one.policy}: {error}") from None
    return those


def _bench(
    those: Sequence[Entrant], scenarios: Sequence[Plant], options: argparse.Namespace
) -> tuple[list[Row], float]:
    begun = time.monotonic()
    names = [scenario.name for scenario in scenarios]
    width = max(22, *(len(one.name) for one in those))
    if not options.json:
        print_lines(policy_bench.text_line(policy_bench.head(names), width), flush=True)
    rows: list[Row] = []
    for row in run_campaign(those, scenarios, _seed_range(options)):
        rows.append(row)
        if not options.json:
            print_lines(policy_bench.text_line(policy_bench.cells(row), width), flush=True)
    seconds = time.monotonic() - begun
    if options.json:
        report = {
            "policies": {row.name: policy_bench.as_json(row) for row in rows},
            "scenarios": {scenario.name: scenario.title for scenario in scenarios},
            "given": {one.name: one.given for one in those},
            "seeds": options.seeds,
            "first_seed": options.first_seed,
            "seconds": round(seconds, 1),
            **Provenance.here().as_dict(),
        }
        print_lines(*json.dumps(report, indent=2).split("\n"))
    return rows, seconds


def _seed_range(options: argparse.Namespace) -> range:
    return range(options.first_seed, options.first_seed + options.seeds)


def _results(
    rows: Sequence[Row], scenarios: Sequence[Plant], options: argparse.Namespace, seconds: float
) -> str:
    made, seeds = Provenance.here(), _seed_range(options)
    given = f"With {', '.join(options.set)}. " if options.set else ""
    shown = policy_bench.markdown(rows, [scenario.name for scenario in scenarios])
    return (
        f"{given}Seeds: {seeds.start} to {seeds.stop - 1}. Machine: {made.machine}. "
        f"Date: {made.date}. Commit: {made.commit}. "
        f"Took {seconds:.0f} s.\n\n{shown}"
    )


def _list(*, as_json: bool) -> None:
    if as_json:
        listed = {
            name: {
                "meaning": entry.meaning,
                "source": entry.source,
                "signal": entry.signal,
                "parameters": [asdict(parameter) for parameter in entry.parameters],
            }
            for name, entry in POLICIES.items()
        }
        print_lines(*json.dumps({"policies": listed}, indent=2).split("\n"))
        return
    for name, entry in POLICIES.items():
        print_lines(f"{name}: {entry.meaning} ({entry.source})")
        for info in entry.parameters:
            unit = f" {info.unit}" if info.unit else ""
            bounds = f"{info.low:g} to {info.high:g}"
            print_lines(f"    {info.name} = {info.default:g}{unit} ({bounds}): {info.meaning}")


def _seeds(text: str) -> int:
    return _whole(text, 1)


def _first_seed(text: str) -> int:
    return _whole(text, 0)


def _cpus(text: str) -> int:
    return _whole(text, 1)


def _whole(text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not low <= number <= MAX_SEEDS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {low} to {MAX_SEEDS}"
        )
    return number


COMMAND = Command(
    name="policies",
    help="list the steering policies, or benchmark them on simulated thread pools",
    add_arguments=_add_arguments,
    run=_run,
)
