"""Labels of a host, from files of other programs and from its operator."""

import json
from pathlib import Path

import pytest
from tidscope_collector.uplink.host_labels import MAX_FILE_BYTES, MAX_LABELS, host_labels

CLOUD = "run/cloud-init/instance-data.json"


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_labels_come_from_all_sources_and_the_operator_wins(tmp_path: Path) -> None:
    assert host_labels(tmp_path, {}) == {}
    write(tmp_path, "etc/os-release", 'ID=debian\nVERSION_ID="12"\nNAME="Debian GNU/Linux"\n')
    write(tmp_path, "etc/machine-info", "LOCATION='Hall 3, rack 7'\n# CHASSIS=vm\n")
    labels = "--node-labels=pool=batch,topology.kubernetes.io/zone=b"
    kubelet = f'KUBELET_KUBEADM_ARGS="--v=2 {labels}"\n'
    write(tmp_path, "var/lib/kubelet/kubeadm-flags.env", kubelet)
    values = {"cloud_name": "aws", "region": "eu-west-1", "instance_id": None, "platform": "ec2"}
    write(tmp_path, CLOUD, json.dumps({"v1": values, "ds": {"secret": "no label"}}))
    assert host_labels(tmp_path, {"TIDSCOPE_LABELS": "canary=true, pool=first"}) == {
        **{"canary": "true", "pool": "first", "topology.kubernetes.io/zone": "b"},
        **{"cloud": "aws", "region": "eu-west-1", "location": "Hall 3, rack 7"},
        **{"os": "debian", "os-version": "12"},
    }


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"v1": 3}', '{"v1": {"region": 7}}', '{"v1": {"region": "a\\nb"}}'),
        *('{"v1": {"region": "%s"}}' % ("x" * 129), "[" * 100_000, " " * (MAX_FILE_BYTES + 1)),
    ],
    ids=range(9),
)
def test_what_is_not_of_the_expected_form_is_left_out(tmp_path: Path, text: str) -> None:
    write(tmp_path, CLOUD, text)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_bytes(b"ID=\xff\xfe")
    (tmp_path / "etc/machine-info").write_text("LOCATION='no end\nDEPLOYMENT=\x1b[31m\n")
    assert host_labels(tmp_path, {"TIDSCOPE_LABELS": "novalue,=x,-a=b,a b=c"}) == {}


def test_labels_are_bounded(tmp_path: Path) -> None:
    many = ",".join(f"k{n}=v" for n in range(100))
    assert len(host_labels(tmp_path, {"TIDSCOPE_LABELS": many})) == MAX_LABELS
