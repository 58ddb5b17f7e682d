"""`tidscope fleet` and the store of totals by role, on the command line."""

import argparse

import pytest
from tidscope_backend.cli import load
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.server_options import role_arguments, store_address, with_roles
from tidscope_backend.cli.up_announcement import how_to_add_hosts
from tidscope_backend.settings import Settings


def options(verb: str, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    load(verb).add_arguments(parser)
    return parser.parse_args(arguments)


def settings(chosen: argparse.Namespace) -> Settings:
    return with_roles(Settings("t" * 32, "c" * 32), chosen)


def test_fleet_is_up_that_keeps_totals_and_tells_how_hosts_are_added() -> None:
    chosen = options("fleet", "--roles-store", "s3://kept/fleet/")
    assert role_arguments(chosen) == [
        "--keep-roles-days",
        "30.0",
        "--roles-store",
        "s3://kept/fleet",
    ]
    made = settings(chosen)
    assert (made.keep_roles_seconds, made.roles_store) == (30 * 86400, "s3://kept/fleet")
    assert chosen.tell_hosts
    default = options("up")
    assert vars(chosen) == {
        **vars(default),
        **{"tell_hosts": True, "keep_roles_days": 30.0, "roles_store": "s3://kept/fleet"},
    }
    assert settings(default).keep_roles_seconds is None


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", "--backend wss://"), ("0.0.0.0", "--backend ws://")]
)
def test_a_far_host_goes_through_the_proxy_unless_the_backend_listens_to_it(
    host: str, address: str
) -> None:
    lines = how_to_add_hosts(options("fleet", "--host", host), "127.0.0.1:8787")
    assert "  tidscope hosts add NAME" in lines
    assert any(address in line for line in lines)
    assert any("proxy" in line for line in lines) == (host == "127.0.0.1")


@pytest.mark.parametrize(
    "text",
    ["kept", "http://kept", "s3://", "s3://key:secret@kept", "file://kept/x", "s3://kept?key=1"],
)
def test_an_address_that_is_no_store_or_has_a_secret_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        store_address(text)


def test_a_store_without_totals_is_refused() -> None:
    with pytest.raises(CommandError, match="--keep-roles-days"):
        settings(options("up", "--roles-store", "s3://kept"))
