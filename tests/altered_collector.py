"""Runs the command behind it, which starts a collector, with some things of that one altered.

`python altered_collector.py --waiting-bytes N --version V PYTHON -m tidscope_collector run …`
"""

import argparse
import json
import sys
from typing import Any
from unittest.mock import patch

from tidscope_collector import service
from tidscope_collector.command_line import main
from tidscope_collector.sampling.selfwatch import Load
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.frames import FramesLink


def bound_frames(most: int) -> None:
    """Keep fewer frames, and report on standard error how many were dropped."""
    defaults = FramesLink.__init__.__defaults__
    assert defaults is not None
    FramesLink.__init__.__defaults__ = (most, most)
    load, said = FramesLink.load, [""]

    def noted_load(self: FramesLink) -> Load:
        found = load(self)
        text = f"dropped {sum(found.dropped.values())}\n"
        if any(found.dropped.values()) and text not in said:
            said[0] = text
            sys.stderr.write(text)
            sys.stderr.flush()
        return found

    patch.object(FramesLink, "load", noted_load).start()


def be_of_version(version: str) -> None:
    """Be of another version, whose messages have members that this one's have not."""
    patch.object(service, "version", lambda _: version).start()
    give = Uplink._give

    async def given(self: Uplink, link: Any, message: str) -> None:
        value = json.loads(message)
        value["later"] = {"version": version}
        for target in value.get("targets", []):
            target["later"] = [1]
        await give(self, link, json.dumps(value))

    patch.object(Uplink, "_give", given).start()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--waiting-bytes", type=int)
    parser.add_argument("--version")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.waiting_bytes is not None:
        bound_frames(options.waiting_bytes)
    if options.version is not None:
        be_of_version(options.version)
    # The interpreter, -m and the module are what runs already.
    sys.argv = options.command[2:]
    sys.exit(main())
