"""The Go tests of the workloads: what kernels compute, and how latencies are kept."""

import subprocess
from pathlib import Path

import pytest
from capabilities import needs
from programs.build import GO

WORKLOADS = Path(__file__).parents[2] / "workloads"


@needs("go")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("module", ["driver", "parallel"])
def test_go_tests_pass(module: str) -> None:
    assert GO is not None
    command = [GO, "test", "-C", str(WORKLOADS / module), "./..."]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no test files" not in done.stdout
