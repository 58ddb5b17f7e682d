"""How an experiment fails."""


class ExperimentError(Exception):
    """An experiment cannot be done; the text says what is wrong, where, and what to do."""


class RepeatError(Exception):
    """One repeat failed, as when its workload crashed; the experiment goes on."""
