"""What viewers do not see: arguments and output of programs, which may hold secrets.

A command line is hidden by null, so that a reader can say so; names and executables stay.
"""

from tidscope_wire.generated.models import (
    Comparison,
    LiveState,
    Process,
    RunManifest,
    RunsResponse,
    RunSummary,
    Target,
)

COMMAND_ASPECT = "command"
"""What the command line is called among the differences of set-up."""
HIDDEN = "(hidden from viewers)"


def process_without(process: Process) -> Process:
    """A process without its arguments."""
    return process.model_copy(update={"command": None})


def target_without(target: Target) -> Target:
    """A target without the arguments of its process."""
    return target.model_copy(update={"process": process_without(target.process)})


def state_without(state: LiveState) -> LiveState:
    """Hosts and targets without arguments."""
    return state.model_copy(update={"targets": [target_without(each) for each in state.targets]})


def manifest_without(manifest: RunManifest) -> RunManifest:
    """A manifest without arguments, and without what the command wrote."""
    outcome = manifest.outcome
    if outcome is not None:
        outcome = outcome.model_copy(update={"command": None, "output_tail": None})
    return manifest.model_copy(
        update={"target": target_without(manifest.target), "outcome": outcome}
    )


def runs_without(runs: RunsResponse) -> RunsResponse:
    """A list of runs without arguments."""

    def hide(listed: list[RunSummary]) -> list[RunSummary]:
        return [each.model_copy(update={"command": None}) for each in listed]

    return runs.model_copy(update={"runs": hide(runs.runs), "deleted": hide(runs.deleted)})


def comparison_without(comparison: Comparison) -> Comparison:
    """A comparison that says at most that the arguments differ."""
    setup = [
        each.model_copy(update={"values": [HIDDEN] * len(each.values)})
        if each.what == COMMAND_ASPECT
        else each
        for each in comparison.setup
    ]
    return comparison.model_copy(update={"setup": setup})
