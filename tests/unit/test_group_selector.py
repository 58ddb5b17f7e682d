"""Selection of processes: trees, units, containers, match expressions."""

from collections.abc import Iterable

import pytest
from backend_builders import process
from tidscope_collector.groups.match import parse_match
from tidscope_collector.groups.selector import Selection, select
from tidscope_collector.processes.identity import not_permitted
from tidscope_wire.generated.models import GroupSelector, Process, ProcessContainer
from tidscope_wire.problems import PREFIX, ProblemError

ID = "0123456789ab" + "cd" * 26
UNIT = "/system.slice/postgresql.service"
CONTAINER = f"/system.slice/docker-{ID}.scope"


def listed(
    pid: int,
    parent: int | None = None,
    *,
    name: str = "prog",
    cgroup: str | None = "/",
    command: str = "prog --flag",
    ports: Iterable[int] = (),
    user: str = "root",
    named: str | None = None,
) -> Process:
    container = named and ProcessContainer(id=ID, name=named, runtime="docker", pod=None)
    return process(pid).model_copy(
        update={
            "parent": parent,
            "name": name,
            "cgroup": cgroup,
            "command": command,
            "ports": list(ports),
            "user": user,
            "start_ticks": 1000 + pid,
            "container": container,
        }
    )


POD = "0f1e2d3c-1111-2222-3333-444455556666"
POD_CGROUP = f"/kubepods.slice/kubepods-pod{POD.replace('-', '_')}.slice"


def in_pod(pid: int, container: str, pod_name: str | None) -> Process:
    inside = ProcessContainer(
        id=container, name="db", runtime="kubernetes", pod=POD, pod_name=pod_name
    )
    cgroup = f"{POD_CGROUP}/cri-containerd-{container}.scope"
    return listed(pid, name="db", cgroup=cgroup).model_copy(update={"container": inside})


HOST = [
    listed(1, name="init"),
    listed(40, 1, name="make", command="make -j4"),
    listed(41, 40, name="sh"),
    listed(43, 41, name="cc1"),
    listed(50, 1, name="postgres", cgroup=UNIT, ports=[5432], user="postgres"),
    listed(51, 50, name="postgres", cgroup=UNIT, user="postgres"),
    listed(60, 1, name="nginx", cgroup=CONTAINER, named="web", ports=[80]),
    listed(61, 60, name="nginx", cgroup=f"{CONTAINER}/workers", named="web"),
    listed(62, 1, name="nginx", command="nginx: master process"),
    in_pod(70, "a1" * 32, "shop/db-0"),
    in_pod(71, "b2" * 32, "shop/db-0"),
]


def members_of(cgroup: str) -> set[int]:
    return {one.pid for one in HOST if f"{one.cgroup}/".startswith(f"{cgroup}/")}


def selected(**members: object) -> Selection:
    return select(GroupSelector.model_validate(members), HOST, members_of)


def refused(members: dict[str, object], processes: list[Process] | None = None) -> str:
    selector = GroupSelector.model_validate(members)
    with pytest.raises(ProblemError) as error:
        select(selector, HOST if processes is None else processes, members_of)
    return error.value.problem.type.removeprefix(PREFIX)


def test_a_tree_is_a_process_and_all_that_descend_from_it() -> None:
    found = selected(kind="tree", pid=40, start_ticks=1040)
    assert found.pids == {40, 41, 43}
    assert (found.lead.pid, found.name) == (40, "make -j4 and its descendants")
    assert (found.value, found.cgroup) == (None, None)


def test_a_long_command_line_is_cut_in_the_name_of_a_tree() -> None:
    long = listed(7, command="java " + "-Dname=value " * 20)
    found = select(GroupSelector(kind="tree", pid=7), [long], members_of)
    assert len(found.name) == 60 + len(" and its descendants")


@pytest.mark.parametrize("value", ["postgresql.service", "postgresql"])
def test_a_unit_is_its_control_group(value: str) -> None:
    found = selected(kind="unit", value=value)
    assert found.pids == {50, 51}
    assert (found.cgroup, found.lead.pid) == (UNIT, 50)


@pytest.mark.parametrize("value", ["web", ID, ID[:12]])
def test_a_container_is_its_control_group_and_those_below(value: str) -> None:
    found = selected(kind="container", value=value)
    assert found.pids == {60, 61}
    assert found.cgroup == CONTAINER
    assert found.name == f"container {value[:12]}"


@pytest.mark.parametrize("value", [POD, "shop/db-0"])
def test_a_pod_is_all_of_its_containers(value: str) -> None:
    found = selected(kind="pod", value=value)
    assert found.pids == {70, 71}
    assert found.cgroup == POD_CGROUP
    assert found.name == "pod shop/db-0"


def test_a_pod_without_a_name_is_shown_by_its_uid() -> None:
    found = select(GroupSelector(kind="pod", value=POD), [in_pod(70, ID, None)], lambda _: [70])
    assert found.name == f"pod {POD}"


def test_a_control_group_is_named_by_its_path() -> None:
    assert selected(kind="cgroup", value=f"{CONTAINER}/workers").pids == {61}
    assert selected(kind="cgroup", value=f"{UNIT}/").cgroup == UNIT


@pytest.mark.parametrize(
    ("expression", "pids"),
    [
        ("name:postgres", {50, 51}),
        ("name:*g*", {50, 51, 60, 61, 62}),
        ("name:nginx port:80", {60}),
        ("user:postgres", {50, 51}),
        ("command:MASTER", {62}),
        ("master process", {62}),
        ("make", {40}),
        # A word with a colon but no known key is searched for.
        ("nginx:", {62}),
    ],
)
def test_all_terms_of_an_expression_hold(expression: str, pids: set[int]) -> None:
    assert selected(kind="match", value=expression).pids == pids


@pytest.mark.parametrize(
    "command",
    ["tidscope attach --match {}", "sh -c tidscope record --match '{}'", "tidscope --match={}"],
)
def test_who_asks_for_an_expression_does_not_match_it(command: str) -> None:
    match = parse_match("name:prog server")
    assert match.holds(listed(1, command="server"))
    assert not match.holds(listed(1, command=command.format("name:prog server")))
    assert match.holds(listed(1, command=command.format("name:prog other server")))


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        ({"kind": "tree"}, "bad-group"),
        ({"kind": "tree", "pid": 40, "value": "x"}, "bad-group"),
        ({"kind": "tree", "pid": 99}, "unknown-process"),
        ({"kind": "tree", "pid": 40, "start_ticks": 7}, "process-id-reused"),
        ({"kind": "unit"}, "bad-group"),
        ({"kind": "unit", "value": "cron.service", "pid": 1}, "bad-group"),
        ({"kind": "unit", "value": "cron.service"}, "empty-group"),
        ({"kind": "container", "value": "web2"}, "empty-group"),
        ({"kind": "pod", "value": "shop/db-1"}, "empty-group"),
        ({"kind": "cgroup", "value": "system.slice"}, "bad-group"),
        ({"kind": "cgroup", "value": "/system.slice/../etc"}, "bad-group"),
        ({"kind": "cgroup", "value": "/empty.slice"}, "empty-group"),
        ({"kind": "match", "value": "name:none"}, "empty-group"),
        ({"kind": "match", "value": " "}, "bad-group"),
        ({"kind": "match", "value": "port:http"}, "bad-group"),
        ({"kind": "match", "value": "user:"}, "bad-group"),
        ({"kind": "match", "value": "a " * 17}, "bad-group"),
    ],
)
def test_what_is_no_group_is_refused(selector: dict[str, object], problem: str) -> None:
    assert refused(selector) == problem


def test_processes_that_cannot_be_attached_to_are_left_out() -> None:
    hidden = listed(52, 50, name="postgres").model_copy(update={"refusal": not_permitted(52)})
    assert selected(kind="match", value="name:postgres").pids == {50, 51}
    assert refused({"kind": "match", "value": "name:postgres"}, [hidden]) == "empty-group"


def test_there_are_not_too_many() -> None:
    many = [listed(pid, name="swarm") for pid in range(1, 4098)]
    assert refused({"kind": "match", "value": "name:swarm"}, many) == "group-too-large"


def test_two_units_of_one_name_have_to_be_named_by_their_paths() -> None:
    inner = "/user.slice/user-1000.slice/user@1000.service/app.slice/web.service"
    two = [listed(1, cgroup="/system.slice/web.service"), listed(2, cgroup=inner)]
    assert refused({"kind": "unit", "value": "web.service"}, two) == "bad-group"
    assert refused({"kind": "unit", "value": "web.service"}, two[:1]) == "empty-group"


def test_a_secret_in_an_expression_is_not_shown() -> None:
    secret = listed(9, command="run --password=hunter2")
    selector = GroupSelector(kind="match", value="--password=hunter2")
    found = select(selector, [secret], members_of)
    assert "hunter2" not in f"{found.value} {found.name}"
