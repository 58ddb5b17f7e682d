"""The manifests for Kubernetes as kustomize itself builds them, with the image that docs name."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from capabilities import missing, needs
from programs.build import build_go_package

ROOT = Path(__file__).parents[2]
MODULE, VERSION = "sigs.k8s.io/kustomize/kustomize/v5", "v5.7.1"
IMAGE = "registry.test/tidscope:0.2.0"
KUBERNETES = ("1.31", "1.37")
pytestmark = [needs("go"), pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def kustomize() -> Path:
    """The program itself."""
    try:
        return build_go_package(MODULE, VERSION, ".")
    except RuntimeError as error:
        raise missing("go-modules", str(error)[-300:]) from None


def test_kubernetes_takes_what_kustomize_builds(kustomize: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kubernetes"
    shutil.copytree(ROOT / "packaging" / "kubernetes", folder)
    subprocess.run([kustomize, "edit", "set", "image", f"tidscope={IMAGE}"], cwd=folder, check=True)
    built = subprocess.run(
        [kustomize, "build", folder], capture_output=True, text=True, check=True
    ).stdout
    resources: list[dict[str, Any]] = list(yaml.safe_load_all(built))
    for one in resources:
        for version in KUBERNETES:
            kubernetes_validate.validate(one, version, strict=True)
        name = "name" if one["kind"] == "Namespace" else "namespace"
        assert one["metadata"][name] == "tidscope"
    maps = {one["metadata"]["name"] for one in resources if one["kind"] == "ConfigMap"}
    pods = {
        one["kind"]: one["spec"]["template"]["spec"]
        for one in resources
        if "template" in one.get("spec", {})
    }
    assert pods.keys() == {"Deployment", "DaemonSet"}
    for pod in pods.values():
        assert IMAGE in [container["image"] for container in pod["containers"]]
    # Generated names, by which a changed configuration reaches the pods.
    volumes = [volume for pod in pods.values() for volume in pod["volumes"]]
    assert len(maps) == 2
    assert maps == {one["configMap"]["name"] for one in volumes if "configMap" in one}
