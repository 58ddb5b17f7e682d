"""The checked-in runs: they go into docs and the published page, so they name no home folder."""

import re
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest

RUNS = sorted((Path(__file__).parents[1] / "e2e" / "fixtures" / "runs").glob("*.tar.zst"))
HOME = re.compile(rb"/(?:root|home)/[\w./-]*")


def test_runs_are_found() -> None:
    assert "demo.tar.zst" in [path.name for path in RUNS]


@pytest.mark.parametrize("run", RUNS, ids=lambda path: path.name)
def test_no_path_leads_into_a_home_folder(run: Path) -> None:
    """Record it again where checkout and Python are below /opt or /usr."""
    with (
        pa.input_stream(str(run), compression="zstd") as unpacked,
        tarfile.open(fileobj=unpacked, mode="r|") as tar,
    ):
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            assert HOME.findall(file.read()) == [], member.name
