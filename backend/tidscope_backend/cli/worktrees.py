"""Git revisions, checked out into temporary worktrees outside of the user's tree."""

import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from tidscope_backend.cli.backend_user import BackendUser
from tidscope_backend.cli.interrupts import held_interrupts
from tidscope_backend.experiments.building import build_environment
from tidscope_backend.experiments.workload import ExperimentError

NO_HOOKS = ("-c", "core.hooksPath=/dev/null")
"""A checkout would run the repository's hooks."""


class Worktrees:
    """Context manager of worktrees, which are removed at its end.

    Args:
        user: user that git runs as, so that files in the repository stay theirs; None for ours.
    """

    def __init__(self, user: BackendUser | None) -> None:
        self._user = user
        self._folder: Path | None = None
        self._made: list[tuple[Path, Path]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with held_interrupts():
            for repository, tree in reversed(self._made):
                with suppress(ExperimentError):
                    self._git(repository, "worktree", "remove", "--force", "--force", str(tree))
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            for repository in {one for one, _ in self._made}:
                with suppress(ExperimentError):
                    self._git(repository, "worktree", "prune")

    def check_out(self, directory: Path, revision: str) -> Path:
        """Check a revision out, and return the folder in it that corresponds to `directory`.

        Raises:
            ExperimentError: the folder is in no repository, or there is no such revision or folder.
        """
        top = Path(self._git(directory, "rev-parse", "--show-toplevel"))
        try:
            wanted = f"{revision}^{{commit}}"
            commit = self._git(top, "rev-parse", "--verify", "--end-of-options", wanted)
        except ExperimentError:
            raise ExperimentError(f"{top}: there is no revision {revision}") from None
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="tidscope-revisions-"))
            if self._user is not None:
                shutil.chown(self._folder, self._user.uid, self._user.gid)
        tree = self._folder / str(len(self._made))
        with held_interrupts():
            self._made.append((top, tree))
            self._git(top, *NO_HOOKS, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        found = tree / directory.resolve().relative_to(top.resolve())
        if not found.is_dir():
            raise ExperimentError(f"{top}: {revision} has no folder {found.relative_to(tree)}")
        return found

    def _git(self, folder: Path, *arguments: str) -> str:
        """Run git and return its output. Raises ExperimentError."""
        user, git = self._user, shutil.which("git")
        if git is None:
            raise ExperimentError("there is no git: install the package git")
        try:
            done = subprocess.run(
                [git, "-C", str(folder), *arguments],
                env={**build_environment(), "GIT_TERMINAL_PROMPT": "0"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                # Ctrl-C in the terminal must not end git halfway.
                start_new_session=True,
                user=None if user is None else user.uid,
                group=None if user is None else user.gid,
                extra_groups=None if user is None else user.groups,
            )
        except OSError as error:
            raise ExperimentError(f"git cannot be run: {error.strerror}") from None
        if done.returncode != 0:
            said = done.stderr.strip().rpartition("\n")[2]
            raise ExperimentError(f"{folder}: {said}")
        return done.stdout.strip()
