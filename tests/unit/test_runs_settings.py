"""Where runs lie, and which options keep them."""

import argparse
from pathlib import Path

import pytest
from tidscope_backend.cli.backend_user import BackendUser
from tidscope_backend.cli.server_options import (
    add_server_options,
    retention_arguments,
    retention_bytes,
    retention_seconds,
)
from tidscope_backend.settings import runs_directory


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_server_options(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"TIDSCOPE_RUNS": "/a", "XDG_DATA_HOME": "/b", "HOME": "/c"}, Path("/a")),
        ({"XDG_DATA_HOME": "/b", "HOME": "/c"}, Path("/b/tidscope/runs")),
        ({"XDG_DATA_HOME": "b", "HOME": "/c"}, Path("/c/.local/share/tidscope/runs")),
        ({"HOME": "/c"}, Path("/c/.local/share/tidscope/runs")),
        ({"TIDSCOPE_RUNS": "here"}, Path.cwd() / "here"),
        ({}, None),
    ],
)
def test_where_runs_lie(environ: dict[str, str], folder: Path | None) -> None:
    assert runs_directory(environ) == folder


def test_a_backend_of_another_user_keeps_them_with_that_user() -> None:
    user = BackendUser("someone", 1000, 1000, (1000,), "/home/someone")
    root = {"HOME": "/root", "XDG_DATA_HOME": "/root/data", "PATH": "/bin"}
    assert runs_directory(user.environ(root)) == Path("/home/someone/.local/share/tidscope/runs")
    # What was asked for by name holds for any user.
    assert runs_directory(user.environ({**root, "TIDSCOPE_RUNS": "/srv"})) == Path("/srv")


def test_options_are_passed_on_as_they_were() -> None:
    off = parsed()
    assert (retention_seconds(off), retention_bytes(off), retention_arguments(off)) == (
        None,
        None,
        [],
    )
    on = parsed("--keep-runs-days", "0.5", "--keep-runs-gib", "2")
    assert (retention_seconds(on), retention_bytes(on)) == (43200, 2 * 1024**3)
    assert parsed(*retention_arguments(on)) == on


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x", ""])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        parsed("--keep-runs-days", text)
