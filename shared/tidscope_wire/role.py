"""The role of a thread. The page has the same rule (frontend/src/model/threads.ts)."""

import re

_DIGITS = re.compile("[0-9]+")


def role_of(name: str) -> str:
    """Role of a thread: its name with each run of digits as one #, so worker-12 is a worker-#.

    Digits are 0 to 9 only, in the page too; `tests/contract/roles.json` holds the two together.
    """
    return _DIGITS.sub("#", name)
