"""Cgroups of processes, and what their names say."""

from pathlib import Path

import pytest
from tidscope_collector.processes.cgroup_names import (
    LONGEST_PATH,
    CgroupNames,
    Container,
    Unit,
    cgroup_path,
    names_of_cgroup,
    unescape_unit,
)
from tidscope_collector.procfs.control_groups import Memberships, memberships
from tidscope_collector.procfs.cpu_limit import CpuLimit, ThrottlingMeter, cpu_limit
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.process_meter import ProcessMeter

PID = 42
STAT = "usage_usec 5\nnr_periods {}\nnr_throttled {}\nthrottled_usec {}\nnr_bursts 0\n"


class Groups:
    """A /proc and a /sys/fs/cgroup of files."""

    def __init__(self, root: Path, listed: str) -> None:
        self.procfs, self.root = ProcFs(root / "proc"), root / "cgroup"
        (root / "proc" / str(PID)).mkdir(parents=True)
        (root / "proc" / str(PID) / "cgroup").write_text(listed)

    def write(self, group: str, **files: str) -> None:
        folder = self.root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)

    def member(self) -> Memberships:
        return memberships(self.procfs, PID, self.root)

    def limit(self) -> CpuLimit | None:
        return cpu_limit(self.member())


def test_the_tightest_limit_of_the_chain_counts(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/slice/service\n")
    groups.write("slice", cpu__max="200000 100000\n", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("slice/service", cpu__max="max 100000\n", cpu__stat=STAT.format(1, 1, 1))
    assert groups.limit() == CpuLimit(2.0, groups.root / "slice", 90, 30, 5000)
    groups.write("slice/service", cpu__max="50000 100000\n")
    assert groups.limit() == CpuLimit(0.5, groups.root / "slice/service", 1, 1, 1)


def test_version_1_counts_in_nanoseconds(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "3:memory:/a\n2:cpu,cpuacct:/a\n")
    groups.write(
        "cpu,cpuacct/a",
        cpu__cfs_quota_us="150000\n",
        cpu__cfs_period_us="100000\n",
        cpu__stat="nr_periods 9\nnr_throttled 4\nthrottled_time 7654321\n",
    )
    assert groups.limit() == CpuLimit(1.5, groups.root / "cpu,cpuacct/a", 9, 4, 7654)
    groups.write("cpu,cpuacct/a", cpu__cfs_quota_us="-1\n")
    assert groups.limit() is None


@pytest.mark.parametrize("listed", ["0::/", "0::/../other\n", "", "nonsense\n", "1:cpu:/gone\n"])
def test_where_nothing_is_known_there_is_no_limit(tmp_path: Path, listed: str) -> None:
    groups = Groups(tmp_path, listed)
    assert groups.limit() is None
    assert cpu_limit(memberships(groups.procfs, PID + 1, groups.root)) is None


@pytest.mark.parametrize("text", ["", "max", "5 0", "-1 100000", "a b", "1 2 3"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    groups = Groups(tmp_path, "0::/a\n")
    groups.write("a", cpu__max=text)
    assert groups.limit() is None


def test_a_group_above_that_others_share_throttles_too(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a/b\n")
    groups.write("a", cpu__max="400000 100000", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("a/b", cpu__max="200000 100000", cpu__stat=STAT.format(50, 5, 100))
    meter = ThrottlingMeter()
    meter.read(groups.member())
    groups.write("a", cpu__stat=STAT.format(100, 37, 9000))
    groups.write("a/b", cpu__stat=STAT.format(60, 5, 100))
    meter.read(groups.member())
    assert (meter.cores, meter.periods, meter.throttled, meter.throttled_us) == (2.0, 10, 7, 4000)
    # Nobody is throttled: the tightest one's periods count.
    groups.write("a", cpu__stat=STAT.format(110, 37, 9000))
    groups.write("a/b", cpu__stat=STAT.format(65, 5, 100))
    meter.read(groups.member())
    assert (meter.cores, meter.periods, meter.throttled, meter.throttled_us) == (2.0, 15, 7, 4000)


def test_figures_begin_with_the_first_reading_and_never_fall(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a/b\n")
    groups.write("a", cpu__max="100000 100000", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("a/b", cpu__max="max 100000", cpu__stat=STAT.format(3, 2, 1))
    meter = ThrottlingMeter()
    assert (meter.cores, meter.periods) == (None, None)

    def figures() -> tuple[float | None, int | None, int | None, int | None]:
        meter.read(groups.member())
        return meter.cores, meter.periods, meter.throttled, meter.throttled_us

    assert figures() == (1.0, 0, 0, 0)
    groups.write("a", cpu__stat=STAT.format(100, 34, 5600))
    assert figures() == (1.0, 10, 4, 600)
    # Another group's limit is the tightest from here on.
    groups.write("a/b", cpu__max="50000 100000")
    assert figures() == (0.5, 10, 4, 600)
    groups.write("a/b", cpu__stat=STAT.format(8, 3, 11))
    assert figures() == (0.5, 15, 5, 610)
    groups.write("a", cpu__max="max 100000")
    groups.write("a/b", cpu__max="max 100000")
    assert figures() == (None, 15, 5, 610)


ID = "4c01db0b339c5a3a6f4d1bc0f1d1f8e7a2b3c4d5e6f708192a3b4c5d6e7f8091"
OTHER = ID[::-1]
POD = "2f1c7b1e-8e0a-4e5b-9a3d-0f6c1d2e3f40"
POD_ = POD.replace("-", "_")
STATIC = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("/", None),
        ("/init.scope", "init.scope"),
        ("/system.slice/nginx.service", "nginx.service"),
        (
            "/system.slice/system-postgresql.slice/postgresql@15-main.service",
            "postgresql@15-main.service",
        ),
        ("/system.slice/dev-disk-by\\x2dlabel-a.swap", "dev-disk-by\\x2dlabel-a.swap"),
        ("/system.slice/_cpu.service", "cpu.service"),
        ("/system.slice/__odd.service", "_odd.service"),
        ("/system.slice/docker.service/init", "docker.service"),
        ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope"),
        (
            "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-12.scope",
            "app-firefox-12.scope",
        ),
        ("/user.slice/user-1000.slice/user@1000.service", "user@1000.service"),
        ("/user.slice/user-1000.slice", None),
        ("/jobs/a.service", None),
        ("/../../other", None),
    ],
)
def test_units(path: str, unit: str | None) -> None:
    found = names_of_cgroup(path)
    assert (found.unit and found.unit.name) == unit
    assert found.container is None


def test_a_unit_has_the_path_of_its_own_group() -> None:
    path = "/user.slice/user-1.slice/user@1.service/app.slice/web.service/worker/3"
    unit = Unit("web.service", path.removesuffix("/worker/3"))
    assert names_of_cgroup(path) == CgroupNames(unit, None)


@pytest.mark.parametrize(
    ("path", "runtime", "pod", "qos", "unit"),
    [
        (f"/system.slice/docker-{ID}.scope", "docker", None, None, None),
        (f"/docker/{ID}", "docker", None, None, None),
        (f"/docker/{ID}/child", "docker", None, None, None),
        (f"/docker/{OTHER}/docker/{ID}", "docker", None, None, None),
        (
            f"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-{ID}.scope",
            "docker",
            None,
            None,
            "user@1000.service",
        ),
        (f"/system.slice/nerdctl-{ID}.scope", "containerd", None, None, None),
        (f"/system.slice:nerdctl:{ID}", "containerd", None, None, None),
        (f"/machine.slice/libpod-{ID}.scope/container", "podman", None, None, None),
        (f"/libpod_parent/libpod-{ID}", "podman", None, None, None),
        (f"/system.slice/web.service/libpod-payload-{ID}", "podman", None, None, "web.service"),
        (
            f"/machine.slice/machine-libpod_pod_{OTHER}.slice/libpod-{ID}.scope",
            "podman",
            None,
            None,
            None,
        ),
        (f"/ecs/task/{ID}", "other", None, None, None),
        (f"/garden-{ID}.scope", "other", None, None, None),
        (f"/kubepods/burstable/pod{POD}/{ID}", "kubernetes", POD, "burstable", None),
        (f"/kubepods/pod{POD}/{ID}", "kubernetes", POD, "guaranteed", None),
        (f"/kubepods/besteffort/pod{STATIC}/crio-{ID}", "kubernetes", STATIC, "besteffort", None),
        (
            "/kubepods.slice/kubepods-burstable.slice/"
            f"kubepods-burstable-pod{POD_}.slice/cri-containerd-{ID}.scope",
            "kubernetes",
            POD,
            "burstable",
            None,
        ),
        (
            f"/kubepods.slice/kubepods-pod{POD_}.slice/crio-{ID}.scope/container",
            "kubernetes",
            POD,
            "guaranteed",
            None,
        ),
        (
            f"/docker/{OTHER}/kubelet.slice/kubelet-kubepods.slice/"
            f"kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod{POD_}.slice/"
            f"cri-containerd-{ID}.scope",
            "kubernetes",
            POD,
            "besteffort",
            None,
        ),
        (
            f"/system.slice/containerd.service/kubepods-burstable-pod{POD_}.slice"
            f":cri-containerd:{ID}",
            "containerd",
            None,
            None,
            "containerd.service",
        ),
    ],
)
def test_containers(
    path: str, runtime: str, pod: str | None, qos: str | None, unit: str | None
) -> None:
    found = names_of_cgroup(path)
    assert found.container is not None
    assert found.container.id == ID
    assert found.container.name is None
    assert found.container.runtime == runtime
    assert (found.container.pod, found.container.qos) == (pod, qos)
    assert path.startswith(found.container.cgroup)
    assert found.container.cgroup.count(ID) == 1
    within = found.container.pod_cgroup
    if pod is None:
        assert within is None
    else:
        assert within is not None
        assert found.container.cgroup.startswith(f"{within}/")
        assert within.rpartition("/")[2].replace("_", "-").removesuffix(".slice").endswith(pod)
    assert (found.unit and found.unit.name) == unit


@pytest.mark.parametrize(
    ("path", "name", "runtime", "unit"),
    [
        ("/lxc.payload.web/system.slice/nginx.service", "web", "lxc", "nginx.service"),
        ("/lxc/101/ns", "101", "lxc", None),
        ("/machine.slice/machine-my\\x2dbox.scope/payload", "my-box", "other", None),
        (
            "/machine.slice/systemd-nspawn@box.service/payload/system.slice/cron.service",
            "box",
            "other",
            "cron.service",
        ),
    ],
)
def test_containers_that_have_names(path: str, name: str, runtime: str, unit: str | None) -> None:
    found = names_of_cgroup(path)
    assert found.container is not None
    assert (found.container.id, found.container.name) == (name, name)
    assert found.container.runtime == runtime
    if unit is not None:
        assert found.unit is not None
        assert found.unit.name == unit


@pytest.mark.parametrize(
    "path",
    [
        f"/machine.slice/libpod-conmon-{ID}.scope",
        f"/kubepods.slice/crio-conmon-{ID}.scope",
        "/lxc.monitor.web",
        "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope",
        f"/docker/{ID[:-1]}",
        f"/docker/{ID.upper()}",
    ],
)
def test_what_is_no_container(path: str) -> None:
    assert names_of_cgroup(path).container is None


def test_a_container_within_a_unit_has_both() -> None:
    group = f"/system.slice/web.service/libpod-payload-{ID}"
    assert names_of_cgroup(group) == CgroupNames(
        Unit("web.service", "/system.slice/web.service"),
        Container(ID, None, "podman", None, None, group),
    )


@pytest.mark.parametrize(
    ("listed", "path"),
    [
        ("0::/system.slice/a.service\n", "/system.slice/a.service"),
        ("0::/\n", "/"),
        ("", None),
        ("nonsense\n\n0:\n", None),
        ("0::/a.slice/b.scope (deleted)\n", "/a.slice/b.scope"),
        (f"12:pids:/docker/{ID}\n1:name=systemd:/docker/{ID}\n0::/\n", f"/docker/{ID}"),
        ("3:cpu,cpuacct:/\n2:memory:/jobs/7\n1:name=systemd:/\n0::/\n", "/jobs/7"),
        ("0::/with:colon\n", "/with:colon"),
    ],
)
def test_the_path_of_a_process(listed: str, path: str | None) -> None:
    assert cgroup_path(listed) == path


def test_a_path_without_end_takes_no_time() -> None:
    assert len(cgroup_path("0::/" + "a" * 100_000) or "") == LONGEST_PATH
    assert names_of_cgroup("/" * 100_000) == CgroupNames(None, None)
    names_of_cgroup("/" + ("x-" * 2000) + ".scope")


def test_escapes_of_units() -> None:
    assert unescape_unit("a\\x2db\\x40") == "a-b@"


def test_a_reading_of_all_limits_asks_once_for_the_groups(tmp_path: Path) -> None:
    asked = list[str]()

    class Counted(ProcFs):
        def read(self, relative: str, limit: int = 1 << 24) -> bytes:
            asked.append(relative)
            return super().read(relative, limit)

    Groups(tmp_path, "0::/a\n")
    (tmp_path / "proc" / str(PID) / "statm").write_text("9 5 0 0 0 0 0\n")
    ProcessMeter(PID, Counted(tmp_path / "proc"), None).read(0)
    assert asked.count(f"{PID}/cgroup") == 1
