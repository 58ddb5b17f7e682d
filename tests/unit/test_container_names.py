"""Names of containers, as Docker and Podman write them down."""

import json
import os
import pwd
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from tidscope_collector.foreign.container_answers import ask_container_names
from tidscope_collector.foreign.container_files import (
    MOST_CONTAINERS,
    name_in_config,
    names_in_list,
)
from tidscope_collector.foreign.reader import NoAnswerError
from tidscope_collector.processes.cgroup_names import Container
from tidscope_collector.processes.container_names import AGAIN_S, ContainerNames, home_of

ID, OTHER = "ab" * 32, "cd" * 32


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


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_child_reads_what_is_a_file_of_whom_it_should_be(tmp_path: Path) -> None:
    docker, podman = tmp_path / "docker", tmp_path / "podman"
    write(docker / "containers" / ID / "config.v2.json", config())
    write(podman / "overlay-containers" / "containers.json", listed(OTHER))
    me = os.getuid()

    def asked(uid: int) -> Mapping[str, str]:
        folders = [(str(docker), -1), (str(podman), uid)]
        return ask_container_names([ID, OTHER, *["00" * 32] * MOST_CONTAINERS, "../../x"], folders)

    assert asked(me) == {ID: "web", OTHER: "db"}
    assert asked(me + 1) == {ID: "web"}
    (podman / "overlay-containers").rename(podman / "other")
    os.mkfifo(podman / "other" / "fifo")
    (podman / "vfs-containers").mkdir()
    (podman / "vfs-containers" / "containers.json").symlink_to(podman / "other/containers.json")
    assert asked(-1) == {ID: "web"}
    (podman / "vfs-containers" / "containers.json").unlink()
    os.mkfifo(podman / "vfs-containers" / "containers.json")
    assert asked(-1) == {ID: "web"}


class Asked:
    """Answers, and what was asked."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.asked: list[tuple[set[str], list[tuple[str, int]]]] = []
        self.now = 0.0

    def __call__(
        self, containers: Iterable[str], folders: Iterable[tuple[str, int]]
    ) -> Mapping[str, str]:
        self.asked.append((set(containers), list(folders)))
        if not self.names:
            raise NoAnswerError("nobody answers")
        return self.names


def test_a_name_is_kept_and_looked_for_again_after_a_while() -> None:
    asked = Asked()
    names = ContainerNames("/d", "/p", asked, lambda: asked.now)
    assert names.of(container(name="lxc")) == "lxc"
    names.look_for([container(name="lxc")])
    assert asked.asked == []
    names.look_for([container()])
    assert asked.asked == [({ID}, [("/d", -1), ("/p", -1)])]
    assert names.of(container()) is None
    asked.names = {ID: "web"}
    names.look_for([container(), container(OTHER)])
    assert asked.asked[-1][0] == {OTHER}
    assert names.of(container()) == "web"
    asked.now, asked.names = AGAIN_S, {ID: "renamed"}
    names.look_for([container()])
    assert names.of(container()) == "renamed"
    assert names.of(container(OTHER)) is None


def test_a_users_own_containers_are_written_down_in_the_home() -> None:
    path = "/user.slice/user-0.slice/user@0.service/user.slice/libpod-x.scope"
    home = f"{pwd.getpwuid(0).pw_dir}/.local/share/containers/storage"
    assert home_of(path) == (home, 0)
    assert home_of(path.replace("user-0", "user-4000000000")) is None
    assert home_of("/system.slice/x.service") is None
    asked = Asked()
    ContainerNames("/d", "/p", asked).look_for([container(cgroup=path)])
    assert asked.asked[0][1][2:] == [(home, 0)]
