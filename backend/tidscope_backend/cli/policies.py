"""`tidscope policies`: the policies that steer a pool; the collector knows them."""

from collections.abc import Sequence

from tidscope_backend.cli.collector import collector_command
from tidscope_backend.lifeline import become


def run(arguments: Sequence[str]) -> int:
    """Become the collector, with the same arguments."""
    become(collector_command("policies", *arguments))
