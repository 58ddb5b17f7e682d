"""Ask pip-audit, npm audit and OSV for known vulnerabilities of what the lock files hold.

Exits 1 if there is one. A registry that gives no answer is named, with how many packages it leaves
unaudited; with `--complete` that is a failure too (exit 2).
"""

import argparse
import json
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import crates
import go_modules

ROOT = Path(__file__).resolve().parent.parent
LOCKS = (
    "requirements.lock",
    "requirements-dev.lock",
    "requirements-fuzz.lock",
    "requirements-engines.lock",
)
SECONDS = 300
OSV_URL = "https://api.osv.dev/v1/query"


@dataclass(frozen=True)
class Finding:
    """Finding of one tool for one lock file.

    Attributes:
        lock: the file.
        audited: packages that it knows about.
        vulnerable: a line for each vulnerability.
        unaudited: packages without an answer.
        reason: why there is none.
    """

    lock: str
    audited: int
    vulnerable: tuple[str, ...] = field(default=())
    unaudited: int = 0
    reason: str = ""

    def lines(self) -> list[str]:
        """The finding as text."""
        lines = [f"{self.lock}: {self.audited} packages audited"]
        if self.unaudited:
            lines[0] += f", {self.unaudited} not: {self.reason}"
        return lines + [f"  {one}" for one in self.vulnerable]


def of_pip_audit(lock: str, output: str, errors: str, locked: int) -> Finding:
    """Read the JSON of pip-audit; without any, all packages of the lock are unaudited."""
    try:
        dependencies: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        return Finding(lock, 0, unaudited=locked, reason=_last_line(errors))
    skipped = [one["skip_reason"] for one in dependencies if "skip_reason" in one]
    vulnerable = tuple(
        f"{one['name']} {one['version']}: {found['id']}, fixed in "
        f"{', '.join(found['fix_versions']) or 'no version yet'}"
        for one in dependencies
        for found in one.get("vulns", ())
    )
    reason = skipped[0] if skipped else ""
    return Finding(lock, len(dependencies) - len(skipped), vulnerable, len(skipped), reason)


def of_npm_audit(lock: str, output: str, errors: str, locked: int) -> Finding:
    """Read the JSON of npm audit; an error document leaves all packages unaudited."""
    try:
        report: dict[str, Any] = json.loads(output)
    except ValueError:
        return Finding(lock, 0, unaudited=locked, reason=_last_line(errors))
    if "vulnerabilities" not in report:
        summary = report.get("error", {}).get("summary", "npm gives no report")
        reason = str(report.get("message", summary))
        return Finding(lock, 0, unaudited=locked, reason=reason)
    vulnerable = tuple(
        f"{name} {found['range']}: {found['severity']}"
        for name, found in sorted(report["vulnerabilities"].items())
    )
    return Finding(lock, locked, vulnerable)


def of_osv(lock: str, ecosystem: str, packages: list[tuple[str, str]], url: str) -> Finding:
    """Ask OSV about each package; the first question without an answer leaves the rest unaudited.

    Args:
        lock: the lock file.
        ecosystem: name that OSV has for their registry; `Go` has Go's own vulnerability database.
        packages: names and versions.
        url: address of the service.
    """
    vulnerable: list[str] = []
    for place, (name, version) in enumerate(packages):
        of = {"name": name, "ecosystem": ecosystem}
        body = json.dumps({"version": version, "package": of}).encode()
        request = urllib.request.Request(url, body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                found: list[dict[str, Any]] = json.load(answer).get("vulns", [])
        except (OSError, ValueError) as error:
            left = len(packages) - place
            return Finding(lock, place, tuple(vulnerable), left, f"{url}: {error}")
        vulnerable += [f"{name} {version}: {one['id']}" for one in found]
    return Finding(lock, len(packages), tuple(vulnerable))


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "no output"


def _run(command: list[str], root: Path) -> tuple[str, str]:
    done = subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    return done.stdout, done.stderr


def audit(root: Path, osv_url: str | None, registry: str | None) -> list[Finding]:
    """Audit all lock files of a checkout.

    Args:
        root: the checkout.
        osv_url: address of an OSV service; None: PyPI for Python, osv.dev for crates and Go.
        registry: registry for npm; None for the configured one.
    """
    pip_service = ["-s", "osv", "--osv-url", osv_url] if osv_url else []
    findings = []
    for lock in LOCKS:
        locked = sum(
            line[:1].isalnum() and "==" in line for line in (root / lock).read_text().splitlines()
        )
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
        command += ["--format", "json", "--progress-spinner", "off", "-r", lock, *pip_service]
        findings.append(of_pip_audit(lock, *_run(command, root), locked))
    lock = "package-lock.json"
    locked = len(json.loads((root / lock).read_text())["packages"]) - 1
    command = ["npm", "audit", "--json", "--package-lock-only", "--fetch-retries", "0"]
    command += ["--registry", registry] if registry else []
    findings.append(of_npm_audit(lock, *_run(command, root), locked))
    osv_url = osv_url or OSV_URL
    packages = [(one["name"], one["version"]) for one in crates.locked(root) if "source" in one]
    findings.append(of_osv(str(crates.LOCK), "crates.io", packages, osv_url))
    for folder in go_modules.CARRIED:
        # OSV has versions of Go modules without the v.
        packages = [(name, version[1:]) for name, version in go_modules.locked(root, folder)]
        findings.append(of_osv(f"{folder}/go.sum", "Go", packages, osv_url))
    return findings


def main() -> int:
    """Audit this checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--complete", action="store_true", help="fail if a registry has no answer")
    parser.add_argument(
        "--osv-url", metavar="URL", help="ask this OSV service about Python, crates and Go"
    )
    parser.add_argument("--registry", metavar="URL", help="ask this npm registry")
    options = parser.parse_args()
    findings = audit(ROOT, options.osv_url, options.registry)
    for finding in findings:
        print("\n".join(finding.lines()))
    if any(finding.vulnerable for finding in findings):
        return 1
    return 2 if options.complete and any(finding.unaudited for finding in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
