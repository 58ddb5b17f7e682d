"""Opening the page in the user's browser, without its token on any command line."""

import os
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path


def has_display(environ: Mapping[str, str], euid: int) -> bool:
    """Whether a browser can open here: there is a display, and browsers refuse to run as root."""
    return euid != 0 and bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


@contextmanager
def page_in_browser(url: str, wanted: bool) -> Iterator[None]:
    """Open an address in the browser, if wanted; what that needs lasts as long as the context.

    Arguments of a process can be read by every user of the machine, so the browser is given a file
    that only this user can read, and that leads to the address.
    """
    if not wanted:
        yield
        return
    handle, name = tempfile.mkstemp(prefix="tidscope-", suffix=".html")
    with os.fdopen(handle, "w") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>tidscope</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(url, quote=True)}">'
        )
    try:
        webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)
