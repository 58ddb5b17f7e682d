"""Names of containers, as Docker and Podman write them down."""

import json
import os
import pwd
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from tidscope_collector.inspection import asking, container_files
from tidscope_collector.inspection.answering import Arguments, Places
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.container_files import (
    IN_HOME,
    MAX_CONTAINERS,
    ContainerName,
    container_names,
    name_in_config,
    names_in_links,
    names_in_list,
)
from tidscope_collector.inspection.reader import ask_container_names
from tidscope_collector.processes.cgroup_names import AGAIN_S, Container, ContainerNames, user_of

ID, OTHER = "ab" * 32, "cd" * 32
WEB = ContainerName("web")


def container(number: str = ID, name: str | None = None, cgroup: str = "/x") -> Container:
    return Container(number, name, "docker", None, None, cgroup)


def config(number: str = ID, name: str = "/web") -> str:
    return json.dumps({"StreamConfig": {}, "ID": number, "Name": name, "State": {}})


def listed(number: str = ID, name: str = "db") -> str:
    return json.dumps([{"id": number, "names": [name], "image": "", "layer": "x", "flags": {}}])


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "null", config(OTHER), config(name="/../x"), "[" * 100_000]
)
def test_a_config_that_says_nothing(text: str) -> None:
    assert name_in_config(text.encode(), ID) is None


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", listed(OTHER), listed(name="a b"), f'[{{"id": "{ID}", "names": null}}]'],
)
def test_a_list_that_says_nothing(text: str) -> None:
    assert names_in_list(text.encode(), [ID]) == {}


def test_a_config_and_a_list() -> None:
    assert name_in_config(config().encode(), ID) == "web"
    assert names_in_list(listed().encode(), [ID, OTHER]) == {ID: "db"}


def test_links_of_the_kubelet() -> None:
    links = (
        f"db-0_shop_postgres-{ID}.log",
        f"other_shop_x-{'00' * 32}.log",
        f"db-0_shop_postgres-{OTHER}.log.gz",
        f"../x_y_z-{OTHER}.log",
        "README",
    )
    assert names_in_links(links, [ID, OTHER]) == {ID: ContainerName("postgres", "shop/db-0")}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_child_reads_what_is_a_file_of_whom_it_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker, kubelet, podman = (tmp_path / name for name in ("docker", "kubelet", "podman"))
    write(docker / "containers" / ID / "config.v2.json", config())
    write(podman / "overlay-containers" / "containers.json", listed(OTHER))
    places = Places(docker=str(docker), kubelet=str(kubelet), podman=str(podman))
    children = asking.make_children(places)
    monkeypatch.setattr(asking, "children", lambda: children)

    def asked() -> Mapping[str, ContainerName]:
        return ask_container_names([ID, OTHER, *["00" * 32] * MAX_CONTAINERS, "../../x"], [])

    assert asked() == {ID: WEB, OTHER: ContainerName("db")}
    (podman / "overlay-containers").rename(podman / "other")
    os.mkfifo(podman / "other" / "fifo")
    (podman / "vfs-containers").mkdir()
    (podman / "vfs-containers" / "containers.json").symlink_to(podman / "other/containers.json")
    assert asked() == {ID: WEB}
    (podman / "vfs-containers" / "containers.json").unlink()
    os.mkfifo(podman / "vfs-containers" / "containers.json")
    assert asked() == {ID: WEB}
    kubelet.mkdir()
    (kubelet / f"shop-7f9c-x2k_default_web-{OTHER}.log").symlink_to("/nowhere")
    assert asked() == {ID: WEB, OTHER: ContainerName("web", "default/shop-7f9c-x2k")}
    children.close()


@pytest.mark.parametrize(("further", "found"), [(0, {ID: ContainerName("db")}), (1, {})])
def test_a_list_in_a_home_is_of_its_user(
    further: int,
    found: Mapping[str, ContainerName],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In this process: the homes of this machine are not the test's."""
    storage = tmp_path / "home" / IN_HOME
    write(storage / "overlay-containers" / "containers.json", listed())
    monkeypatch.setattr(container_files, "limit_resources", lambda _: None)
    monkeypatch.setattr(container_files, "confine", lambda: None)
    home = SimpleNamespace(pw_dir=str(tmp_path / "home"))
    user = os.getuid() + further
    monkeypatch.setattr(pwd, "getpwuid", {user: home}.__getitem__)
    nowhere = Places(docker="/nowhere", kubelet="/nowhere", podman="/nowhere")
    about = Arguments(containers=[ID], users=[user, 4_000_000_000])
    with (tmp_path / "answer").open("wb") as answer:
        container_names(nowhere, about, answer.fileno())
    *lines, end = map(json.loads, (tmp_path / "answer").read_text().splitlines())
    assert end == {}
    assert {line["id"]: ContainerName(line["name"], line["pod"]) for line in lines} == found


class Asked:
    """Answers, and what was asked."""

    def __init__(self) -> None:
        self.names: dict[str, ContainerName] = {}
        self.asked: list[tuple[set[str], list[int]]] = []
        self.now = 0.0

    def __call__(
        self, containers: Iterable[str], users: Iterable[int]
    ) -> Mapping[str, ContainerName]:
        self.asked.append((set(containers), list(users)))
        if not self.names:
            raise NoAnswerError("nobody answers")
        return self.names


def test_a_name_is_kept_and_looked_for_again_after_a_while() -> None:
    asked = Asked()
    names = ContainerNames(asked, lambda: asked.now)
    assert names.of(container(name="lxc")) == "lxc"
    names.look_for([container(name="lxc")])
    assert asked.asked == []
    names.look_for([container()])
    assert asked.asked == [({ID}, [])]
    assert names.of(container()) is None
    asked.names = {ID: ContainerName("web", "shop/web-0")}
    names.look_for([container(), container(OTHER)])
    assert asked.asked[-1][0] == {OTHER}
    assert (names.of(container()), names.pod_of(container())) == ("web", "shop/web-0")
    asked.now, asked.names = AGAIN_S, {ID: ContainerName("renamed")}
    names.look_for([container()])
    assert names.of(container()) == "renamed"
    assert (names.of(container(OTHER)), names.pod_of(container(OTHER))) == (None, None)


def test_a_users_own_containers_are_looked_for_in_the_home() -> None:
    path = "/user.slice/user-7.slice/user@7.service/user.slice/libpod-x.scope"
    assert user_of(path) == 7
    assert user_of(path.replace("user-7", "user-9999999999")) is None
    assert user_of("/system.slice/x.service") is None
    asked = Asked()
    ContainerNames(asked).look_for([container(cgroup=path)])
    assert asked.asked == [({ID}, [7])]
