"""Whom the backend becomes: it needs no rights, so it keeps none."""

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from ctypes import CDLL
from dataclasses import dataclass

from tidscope_backend.cli.command import CommandError


@dataclass(frozen=True)
class BackendUser:
    """A user to run as.

    Attributes:
        name: of the user, or the uid as text if it has none.
        uid: user id.
        gid: primary group id.
        groups: supplementary group ids.
        home: home directory.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str

    def environ(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment, with this user's name and home, and no folders of another."""
        own = {name: value for name, value in base.items() if not name.startswith("XDG_")}
        return {**own, "HOME": self.home, "USER": self.name, "LOGNAME": self.name}

    def check_can_run(self) -> None:
        """See that this user may read the installation, which can lie in a private folder.

        Raises:
            CommandError: it may not.
        """
        try:
            done = subprocess.run(
                [sys.executable, "-c", "import tidscope_backend"],
                user=self.uid,
                group=self.gid,
                extra_groups=self.groups,
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
            reason = done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
        except OSError as error:
            reason = f"{sys.executable}: {error.strerror}"
        if reason:
            raise CommandError(
                f"{self.name} cannot run this installation ({reason}); put it where that user "
                "may read it, such as under /opt, or name another with --user NAME"
            )


def choose_backend_user(
    user: str | None, environ: Mapping[str, str], euid: int
) -> BackendUser | None:
    """Decide whom the backend becomes.

    Args:
        user: name asked for, if any.
        environ: where sudo left who called it.
        euid: of this process.

    Returns:
        None to stay who we are.

    Raises:
        CommandError: the user does not exist, or we may not become it.
    """
    if user is not None:
        return _named(user, euid)
    if euid != 0 or int(environ.get("SUDO_UID", "0")) == 0:
        return None
    uid, gid = int(environ["SUDO_UID"]), int(environ.get("SUDO_GID", "0"))
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return BackendUser(str(uid), uid, gid, (gid,), "/")
    return _account(entry, gid)


def _named(user: str, euid: int) -> BackendUser:
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise CommandError(f"--user {user}: there is no such user") from None
    if euid not in (0, entry.pw_uid):
        raise CommandError(f"--user {user}: only root can become another user; leave it out")
    return _account(entry, entry.pw_gid)


def _account(entry: pwd.struct_passwd, gid: int) -> BackendUser:
    groups = tuple(os.getgrouplist(entry.pw_name, gid))
    return BackendUser(entry.pw_name, entry.pw_uid, gid, groups, entry.pw_dir)


def act_as(user: BackendUser | None) -> None:
    """Have this thread make files as another user: credentials of files are a thread's own."""
    if user is not None:
        libc = CDLL(None)
        libc.setfsgid(user.gid)
        libc.setfsuid(user.uid)
