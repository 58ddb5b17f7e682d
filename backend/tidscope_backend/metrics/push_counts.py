"""How exports of metrics went; told among the metrics themselves."""

from dataclasses import dataclass


@dataclass
class Pushes:
    """Exports since the backend started."""

    sent: int = 0
    failed: int = 0
