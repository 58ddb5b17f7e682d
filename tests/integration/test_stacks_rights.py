"""Stacks by a collector that is not root, with the capabilities that docker-compose.yml grants."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml
from capabilities import needs
from programs.known_code import KnownCode, command

pytestmark = [needs("root"), needs("btf"), needs("stacks")]

ROOT = Path(__file__).parents[2]
NOBODY = "65534"


def granted() -> str:
    """Capabilities of the collector's container, as setpriv takes them."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return ",".join(["-all", *(f"+{one.lower()}" for one in services["collector"]["cap_add"])])


def test_stacks_need_no_root_but_capabilities() -> None:
    rights = granted()
    with KnownCode(command("c")) as working:
        working.begin(600)
        done = subprocess.run(
            [
                *("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"),
                *(f"--inh-caps={rights}", f"--ambient-caps={rights}", f"--bounding-set={rights}"),
                *(sys.executable, str(ROOT / "tests/programs/stacks_of.py"), str(working.pid)),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            check=True,
        )
    assert json.loads(done.stdout) == {"user": int(NOBODY), "trigger": "tracepoint", "reason": ""}
