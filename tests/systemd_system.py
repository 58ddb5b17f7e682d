"""A machine with systemd as its first process, in a container."""

import subprocess

from capabilities import missing
from containers import Podman
from processes import wait_until

UP = ("running\n", "degraded\n")


class System:
    """A running container.

    Args:
        podman: what runs it.
        name: its name.
    """

    def __init__(self, podman: Podman, name: str) -> None:
        self._podman, self._name = podman, name

    def run(self, command: str, user: str = "root") -> subprocess.CompletedProcess[str]:
        """Run a command of a shell as a user with the groups that /etc/group gives it."""
        become = () if user == "root" else ("setpriv", f"--reuid={user}", f"--regid={user}")
        groups = ("--init-groups", "--reset-env") if become else ()
        return self._podman.execute(self._name, *become, *groups, "sh", "-c", command)

    def does(self, command: str, user: str = "root") -> str:
        """Run a command that has to succeed; what it prints."""
        done = self.run(command, user)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def await_start(self, patience_s: float) -> None:
        """Wait until systemd has started, and add two people, of whom one is to look."""
        try:
            wait_until(lambda: self.run("systemctl is-system-running").stdout in UP, patience_s)
        except AssertionError:
            raise missing("systemd", self.run("systemctl is-system-running").stderr) from None
        self.does("useradd -U member && useradd -U stranger")

    def has_users(self) -> bool:
        """Return True if the services' users exist."""
        return "tidscope" in self.does("cat /etc/passwd /etc/group")
