"""Experiments as a backend shows them, read from journals that another process may write."""

from pathlib import Path

from tidscope_wire.generated.models import Experiment, ExperimentsResponse

from tidscope_backend.experiments.analysis import analyse, summarise
from tidscope_backend.experiments.errors import ExperimentError
from tidscope_backend.experiments.journal import (
    experiment_folders,
    is_carried_out,
    read_journal,
)

MAX_LISTED = 200


def listed(runs: Path | None) -> ExperimentsResponse:
    """The newest experiments.

    Args:
        runs: the runs directory; None: there is none.
    """
    experiments, damaged = [], []
    for folder in experiment_folders(runs)[:MAX_LISTED]:
        try:
            experiments.append(summarise(read_journal(folder), carried_out=is_carried_out(folder)))
        except (ExperimentError, ValueError, KeyError) as error:
            damaged.append(f"{folder.name}: {error}")
    return ExperimentsResponse(experiments=experiments, damaged=damaged)


def found(folder: Path) -> Experiment:
    """One experiment. Raises ExperimentError: there is none, or its journal is damaged."""
    entries = read_journal(folder)
    try:
        return analyse(entries, carried_out=is_carried_out(folder))
    except (ValueError, KeyError) as error:
        raise ExperimentError(f"{folder.name}: its journal is damaged: {error}") from None
