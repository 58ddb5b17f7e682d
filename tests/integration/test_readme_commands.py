"""The commands that README names, run as a reader would run them."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", README, re.DOTALL)
LINES = [line.split("#")[0].strip() for pair in CODE for line in "".join(pair).splitlines()]
TARGETS = sorted({word for line in LINES if line.startswith("make ") for word in line.split()[1:2]})
VERBS = ["up", "serve", "collect", "doctor", "policies"]
OPTIONS = "--port 0 --no-open --json"


def environment() -> dict[str, str]:
    """Ours, without the variables that steer a make or a backend around us."""
    kept = ("PATH", "HOME", "LANG", "USER", "TMPDIR")
    return {name: value for name, value in os.environ.items() if name in kept}


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_readme_names_targets() -> None:
    assert {"up", "test", "wheel"} <= set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_exists(target: str) -> None:
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr


def test_make_alone_lists_the_targets() -> None:
    listed = make().stdout
    assert all(f"make {target} " in listed for target in ("up", "test", "check"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_of_the_command_line_explains_itself(verb: str) -> None:
    assert f"`{verb}`" in README or f"tidscope {verb}" in README
    done = subprocess.run(
        [ROOT / ".venv/bin/tidscope", verb, "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert f"usage: tidscope {verb}" in done.stdout


def test_make_up_with_the_demo_has_an_attached_target() -> None:
    command = ["make", "--silent", "up", "DEMO=1", f"UP_ARGS={OPTIONS}"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            line = next((line for line in lines if line.startswith("{")), "")
            assert line, process.communicate(timeout=120)
            running = json.loads(line)
            answer = httpx.get(
                f"{running['address']}/api/v1/targets",
                headers={"authorization": f"Bearer {running['token']}"},
            )
            targets = answer.raise_for_status().json()["targets"]
            assert [target["state"] for target in targets] == ["attached"]
        finally:
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=120)
    assert "Traceback" not in said
