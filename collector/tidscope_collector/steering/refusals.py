"""Why something is not done that was asked for."""


class NotSteerableError(Exception):
    """It cannot be done; the text is a sentence for people."""


class NotSteeredError(Exception):
    """No policy steers the target."""


class BadParameterError(Exception):
    """What was asked for does not exist or is out of bounds; the text names it."""


class TooManyActionsError(Exception):
    """Somebody presses buttons faster than programs can follow."""
