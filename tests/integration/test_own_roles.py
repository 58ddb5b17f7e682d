"""A person's own roles, sent with the request to attach: the collector counts by them."""

import subprocess
from collections.abc import Iterator

import pytest
from followed_target import FollowedTarget
from group_targets import GroupTargets
from tidscope_collector.naming.thread_names import NamingOptions
from tidscope_wire.frame import split
from tidscope_wire.generated.models import GroupSelector, RoleRule

OWN = RoleRule(pattern="ca?", role="mine")
GIVEN = RoleRule(pattern="c*", role="of the collector")


@pytest.fixture
def program() -> Iterator[int]:
    """A process that is called cat, and waits."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # It has been executed: its name is its own.
        process.stdin.write(b"x")
        process.stdin.flush()
        assert process.stdout.read(1) == b"x"
        yield process.pid
        process.kill()


def test_they_stand_before_those_of_the_collector(program: int) -> None:
    with FollowedTarget(program, naming=NamingOptions(role_rules=(GIVEN,))) as followed:
        header = followed.seen.header
        assert header is not None
        assert [one.role for one in header.roles or ()] == ["of the collector"]
        followed.detach()
        target, created = followed.targets.attach(program, None, 10, [OWN])
        assert created
        assert target.role_rules == [OWN, GIVEN]
        # Who attaches as well gets the target as it is.
        assert followed.targets.attach(program, None, 10) == (target, False)


def test_a_group_is_counted_by_them(program: int) -> None:
    groups = GroupTargets()
    try:
        selector = GroupSelector(kind="tree", pid=program)
        target, _ = groups.targets.attach_group(selector, 10, [OWN])
        assert target.role_rules == [OWN]
        header, _ = split(groups.frames.get(timeout=120))
        assert [one.role for one in header.roles or ()] == ["mine"]
    finally:
        groups.close()
