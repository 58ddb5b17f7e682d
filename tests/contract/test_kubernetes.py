"""The manifests for Kubernetes: its own schemas accept them, and they grant what compose grants."""

import errno
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tidscope_backend.cli import load
from tidscope_backend.cli.collect import socket_url
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_PORT
from tidscope_collector.confinement.calls import (
    FATAL,
    child_calls,
    collector_calls,
    fork_server_calls,
    switch_calls,
)
from tidscope_collector.inspection.answering import Places

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "kubernetes"
VERSIONS = ("1.31", "1.37")
"""Oldest version with all that the manifests use (appArmorProfile), and the newest known one."""
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
PROFILE = FOLDER / "collector-seccomp.json"
SECCOMP: dict[str, Any] = json.loads(PROFILE.read_text())
REFUSED = "SCMP_ACT_ERRNO"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["collector"]


def manifests() -> Iterator[dict[str, Any]]:
    """All resources that kustomize would collect."""
    for name in KUSTOMIZATION["resources"]:
        yield from yaml.safe_load_all((FOLDER / name).read_text())


ALL = list(manifests())
PODS = {
    one["metadata"]["name"]: one["spec"]["template"]["spec"]
    for one in ALL
    if "template" in one.get("spec", {})
}
COLLECTOR = PODS["collector"]
(READER,) = COLLECTOR["containers"]


def named(one: dict[str, Any]) -> str:
    return f"{one['kind']}-{one['metadata']['name']}"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", ALL, ids=map(named, ALL))
def test_kubernetes_own_schema_accepts_it(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("DaemonSet", ("spec", "template", "spec", "hostPid"), True),
        ("Deployment", ("spec", "replicas"), "one"),
        ("NetworkPolicy", ("spec", "ingress"), "all"),
    ],
)
def test_a_broken_manifest_is_refused(kind: str, path: tuple[str, ...], value: Any) -> None:
    broken = next(one for one in manifests() if one["kind"] == kind)
    inner = broken
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_these_are_all_files() -> None:
    generated = [file for one in KUSTOMIZATION["configMapGenerator"] for file in one["files"]]
    listed = {"kustomization.yaml", *KUSTOMIZATION["resources"], *generated}
    assert {path.name for path in FOLDER.iterdir()} == listed


def test_the_collector_has_what_compose_gives_it() -> None:
    context = READER["securityContext"]
    assert context["capabilities"] == {"drop": COMPOSE["cap_drop"], "add": COMPOSE["cap_add"]}
    assert "privileged" not in context
    assert context["readOnlyRootFilesystem"] is COMPOSE["read_only"]
    assert context["allowPrivilegeEscalation"] is False
    assert f"{context['runAsUser']}:0" == COMPOSE["user"]
    assert COLLECTOR["hostPID"] == (COMPOSE["pid"] == "host")
    assert COLLECTOR["hostNetwork"] == (COMPOSE["network_mode"] == "host")
    own = f"seccomp:{PROFILE.relative_to(ROOT)}"
    assert {own, "apparmor:unconfined"} <= set(COMPOSE["security_opt"])
    assert context["appArmorProfile"] == {"type": "Unconfined"}
    assert context["seccompProfile"]["type"] == "Localhost"


def test_the_filter_of_system_calls_is_put_where_the_kubelet_looks_for_it() -> None:
    (puts,) = COLLECTOR["initContainers"]
    hosts = {one["name"]: one for one in COLLECTOR["volumes"]}
    mounts = {one["name"]: one["mountPath"] for one in puts["volumeMounts"]}
    variables = {one["name"]: one["value"] for one in puts["env"]}
    name = READER["securityContext"]["seccompProfile"]["localhostProfile"]
    written = f"{hosts['profiles']['hostPath']['path']}/{variables['FILE']}"
    assert written == f"/var/lib/kubelet/seccomp/{name}"
    assert variables["FILE"] == PROFILE.name
    shell, option, line = puts["command"]
    (made,) = (one for one in KUSTOMIZATION["configMapGenerator"] if PROFILE.name in one["files"])
    assert hosts["profile"]["configMap"]["name"] == made["name"]
    assert mounts.keys() == {"profile", "profiles"}
    with tempfile.TemporaryDirectory() as folder:
        for path in mounts.values():
            line = line.replace(path, f"{folder}{path}")
            Path(f"{folder}{path}").mkdir(parents=True)
        shutil.copy(PROFILE, f"{folder}{mounts['profile']}")
        subprocess.run([shell, option, line], env=variables, check=True)
        put = Path(f"{folder}{mounts['profiles']}/{PROFILE.name}").read_text()
    assert json.loads(put) == SECCOMP


def test_the_filter_allows_what_the_collectors_own_filters_allow_and_little_else() -> None:
    passed, later = SECCOMP["syscalls"]
    assert (SECCOMP["defaultAction"], SECCOMP["defaultErrnoRet"]) == (REFUSED, errno.ENOSYS)
    assert (passed["action"], later["action"]) == ("SCMP_ACT_ALLOW", REFUSED)
    assert (later["names"], later["errnoRet"]) == (["clone3"], errno.ENOSYS)
    allowed = set(passed["names"])
    for calls in (
        collector_calls(steering=True, ebpf=True, unix=True),
        *(fork_server_calls(), child_calls(), switch_calls()),
    ):
        assert {*calls.allowed, *calls.conditional} <= allowed
    # Set-up starts programs, and counts events for stacks.
    assert allowed & set(FATAL.split()) == {"execve", "perf_event_open"}
    assert not allowed & {"syslog", "quotactl", "bpf_prog", "fanotify_init", "acct", "sethostname"}


def test_the_collector_writes_and_reads_the_folders_of_the_host_that_compose_names() -> None:
    mounts = {one["name"]: one for one in READER["volumeMounts"]}
    host = {
        one["name"]: one["hostPath"]["path"] for one in COLLECTOR["volumes"] if "hostPath" in one
    }
    # Only the filter of system calls is written by another container.
    assert host.keys() - mounts.keys() == {"profiles"}
    del host["profiles"]
    for name, path in host.items():
        assert mounts[name]["mountPath"] == path
    written = {path for name, path in host.items() if not mounts[name].get("readOnly")}
    read = set(host.values()) - written
    volumes = [volume.split(":") for volume in COMPOSE["volumes"]]
    assert written == {one[0] for one in volumes if one[-1] != "ro"}
    # Docker's and Podman's names there, the kubelet's here.
    assert read == {"/sys/fs/cgroup", Places().kubelet}


def test_no_pod_may_ask_kubernetes_and_only_the_collector_has_rights() -> None:
    assert {one["kind"] for one in ALL} == {
        *("Namespace", "Deployment", "DaemonSet"),
        *("PersistentVolumeClaim", "Service", "NetworkPolicy"),
    }
    for pod in PODS.values():
        assert pod["automountServiceAccountToken"] is False
    backend = PODS["backend"]
    assert backend["securityContext"]["runAsNonRoot"] is True
    assert not {"hostPID", "hostNetwork", "hostIPC"} & set(backend)
    for container in backend["containers"]:
        context = container["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True


def test_volumes_and_mounts_agree() -> None:
    for pod in PODS.values():
        volumes = {volume["name"] for volume in pod["volumes"]}
        containers = [*pod["containers"], *pod.get("initContainers", ())]
        mounted = {mount["name"] for one in containers for mount in one["volumeMounts"]}
        assert volumes == mounted


def test_selectors_find_their_pods() -> None:
    labels = {
        one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"]
        for one in ALL
        if "template" in one.get("spec", {})
    }
    for one in ALL:
        name, spec = one["metadata"]["name"], one.get("spec", {})
        if one["kind"] in ("Deployment", "DaemonSet"):
            assert spec["selector"]["matchLabels"] == labels[name]
        if one["kind"] == "Service":
            assert spec["selector"] == labels[name]
    policies = {
        one["metadata"]["name"]: one["spec"] for one in ALL if one["kind"] == "NetworkPolicy"
    }
    assert policies["nothing"]["podSelector"] == {}
    assert policies["nothing"]["policyTypes"] == ["Ingress", "Egress"]
    assert policies["backend"]["podSelector"]["matchLabels"] == labels["backend"]


def test_commands_are_ours() -> None:
    """Our own parsers read them."""
    backend = PODS["backend"]["containers"][0]
    verb, *options = backend["args"]
    served = load(verb).parser().parse_args(options)
    assert served.port == DEFAULT_PORT
    assert backend["envFrom"] == [{"secretRef": {"name": "tokens"}}]
    shell, _, line = READER["command"]
    assert shell == "sh"
    read = f"read -r secret < /run/secret; {COLLECTOR_VARIABLE}=$secret"
    assert line.startswith(f"{read} exec tidscope collect ")
    url = re.findall(r"--backend (\S+)", line)[0]
    assert socket_url(url) == "wss://backend.tidscope.svc/ws/collector"
    assert "backend.tidscope.svc" in served.allow_host


def test_each_node_gets_its_own_secret_and_no_other() -> None:
    (secret,) = (one for one in READER["volumeMounts"] if one["mountPath"] == "/run/secret")
    assert secret["subPathExpr"] == "$(NODE)"
    variables = {one["name"]: one for one in READER["env"]}
    assert variables["NODE"]["valueFrom"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}
