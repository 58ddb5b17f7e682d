"""Parts of totals by role in a store of objects: a folder, S3, Google Cloud or Azure.

STORE/staged/*.parquet      parts that wait for the committer
STORE/committer.json        lease of the committer, where the store is no folder
STORE/tidscope/roles/       data files by hour and bucket of hosts, and Iceberg's metadata

Credentials come from the environment, by the names that the store's own tools use.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidscope_backend.store.folder import sync_folder

if TYPE_CHECKING:
    from obstore.store import ObjectStore

STAGED = "staged"
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables of the environment with the address of an S3 service other than Amazon's."""
CONNECT_S, REQUEST_S, RETRY_S = 5, 20, 30
"""Limits of a connection, a request and all retries of a request, in seconds."""
LEASE = "committer.json"


class StoreError(OSError):
    """The store did not do what it was asked; the text says why."""

    def __str__(self) -> str:
        return str(self.args[0])


class PartStore:
    """Parts in a store.

    Args:
        url: address of the store, such as s3://bucket/prefix or file:///folder.

    Raises:
        StoreError: obstore is missing, or the address is not one of a store.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._folder = path_of(url) if is_local(url) else None
        self._objects = _open(url)

    def names(self) -> list[str]:
        """Return the names of the parts, oldest first. Raises StoreError."""
        found = (path.rpartition("/")[2] for path, _ in self.objects(STAGED))
        return sorted(name for name in found if name.endswith(".parquet"))

    def address(self, name: str) -> str:
        """Return the path of a part in a folder, or its address."""
        place = self.url if self._folder is None else str(self._folder)
        return f"{place}/{STAGED}/{name}"

    def put(self, name: str, data: bytes) -> None:
        """Write a part, or the same part again. Raises StoreError, OSError."""
        with _reported():
            self._objects.put(f"{STAGED}/{name}", data, use_multipart=False)
        if self._folder is not None:
            sync_file(self._folder / STAGED / name)
            sync_folder(self._folder / STAGED)

    def get(self, name: str) -> bytes | None:
        """Return a part, or None if it was removed. Raises StoreError."""
        try:
            with _reported():
                return bytes(self._objects.get(f"{STAGED}/{name}").bytes())
        except FileNotFoundError:
            return None

    def set_aside(self, name: str) -> None:
        """Rename a damaged part, so that it is no part any more. Raises StoreError."""
        with _reported():
            aside = name.removesuffix(".parquet") + ".damaged"
            self._objects.rename(f"{STAGED}/{name}", f"{STAGED}/{aside}")

    def remove(self, names: Sequence[str], within: str = STAGED) -> None:
        """Remove objects; absent ones do not matter. Raises StoreError, OSError."""
        for name in names:
            try:
                with _reported():
                    self._objects.delete(f"{within}/{name}")
            except FileNotFoundError:
                pass
        if self._folder is not None and (self._folder / within).exists():
            sync_folder(self._folder / within)

    def objects(self, within: str) -> Iterator[tuple[str, datetime]]:
        """Yield path and time of the objects below a path. Raises StoreError."""
        with _reported():
            for page in self._objects.list(within):
                for one in page:
                    yield one["path"], one["last_modified"]

    @contextmanager
    def exclusive(self, seconds: float) -> Iterator[bool]:
        """Hold the lease of the committer; yields False if another process has it.

        It spares double work. That a part is committed once is the catalog's doing, which refuses
        a commit on a table that has changed, so neither clocks nor a lost lease matter.

        Args:
            seconds: time after which others may take the lease.
        """
        if self._folder is not None:
            with _lock(self._folder) as held:
                yield held
            return
        version = self._take(seconds)
        try:
            yield version is not None
        finally:
            if version is not None:
                self._put_lease(0.0, version)

    def _take(self, seconds: float) -> Any | None:
        until = time.time() + seconds
        version = self._put_lease(until, "create")
        if version is None:
            with _reported():
                found = self._objects.get(LEASE)
                held = json.loads(bytes(found.bytes()))
            if held["until"] < time.time():
                version = self._put_lease(until, {"e_tag": found.meta["e_tag"]})
        return version

    def _put_lease(self, until: float, mode: Any) -> Any | None:
        """Write the lease if it is as expected; return its version, or None."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        data = json.dumps({"until": until, "pid": os.getpid(), "host": os.uname().nodename})
        try:
            with _reported():
                put = self._objects.put(LEASE, data.encode(), mode=mode, use_multipart=False)
                return {"e_tag": put["e_tag"]}
        except StoreError as error:
            if isinstance(error.__cause__, (AlreadyExistsError, PreconditionError)):
                return None
            raise


def is_local(url: str) -> bool:
    """Return True for the address of a folder."""
    return urlsplit(url).scheme == "file"


def path_of(uri: str) -> Path:
    """Return the path of a local file's address, which has no escapes, as PyIceberg reads none."""
    return Path(uri.removeprefix("file://"))


def url_of(folder: Path) -> str:
    """Return the address of a folder."""
    return f"file://{folder.absolute()}"


def endpoint() -> str | None:
    """Return the address of an S3 service that the environment names."""
    return next((os.environ[name] for name in ENDPOINT_VARIABLES if os.environ.get(name)), None)


def sync_file(path: Path) -> None:
    """Flush a file to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(url: str) -> "ObjectStore":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import LocalStore, from_url
    except ImportError:
        raise StoreError("obstore is missing: pip install 'tidscope[fleet]'") from None
    if is_local(url):
        return LocalStore(path_of(url), mkdir=True)
    try:
        return from_url(url, **access(url))
    except (BaseError, ValueError) as error:
        raise StoreError(f"{url} is no store: {error}") from None


def access(url: str) -> dict[str, Any]:
    """Return how obstore reaches a store, beyond what it takes from the environment itself."""
    address = endpoint() if url.startswith("s3:") else None
    return {
        **({"endpoint": address} if address else {}),
        "client_options": {
            "connect_timeout": timedelta(seconds=CONNECT_S),
            "timeout": timedelta(seconds=REQUEST_S),
            "allow_http": bool(address and address.startswith("http://")),
        },
        "retry_config": {"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_S)},
    }


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder; yields False if another process has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


@contextmanager
def _reported() -> Iterator[None]:
    """Raise errors of the store as OSError, with their first line."""
    from obstore.exceptions import BaseError, NotFoundError

    try:
        yield
    except FileNotFoundError:
        raise
    except NotFoundError as error:
        raise FileNotFoundError(str(error)) from error
    except BaseError as error:
        raise StoreError(str(error).partition("\n")[0]) from error
