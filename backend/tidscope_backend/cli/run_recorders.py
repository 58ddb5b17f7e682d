"""The recorder of a command: a running tidscope with a known token, or one in this process."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidscope_wire.generated.models import HealthResponse
from tidscope_wire.loading import loading

from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
    known_token,
)
from tidscope_backend.cli.backend_user import choose_backend_user
from tidscope_backend.cli.collect import warn_if_others_may_change_it
from tidscope_backend.cli.command import print_lines
from tidscope_backend.cli.recording_client import RecordingClient, RecordingOptions, RunRecorder
from tidscope_backend.cli.relay import blocked_signals
from tidscope_backend.settings import BROWSER_VARIABLE


@contextmanager
def open_recorder(
    runs: Path, what: RecordingOptions, options: argparse.Namespace, verb: str = "record"
) -> Iterator[RunRecorder]:
    """Return a running tidscope with a known token, or a local recorder.

    Args:
        runs: the runs directory of a local recorder.
        what: recording options.
        options: options with host and port, as added by `add_backend_options`.
        verb: verb that messages begin with.
    """
    token = known_token(options)
    with BackendClient(f"{options.host}:{options.port}", token) as backend:
        if token and _answers(backend, verb):
            yield RecordingClient(backend, what)
            return
    # Loaded here, because recording through a running tidscope does not need these modules.
    with loading(), blocked_signals():
        from tidscope_backend.cli.local_recorder import LocalRecorder

    warn_if_others_may_change_it()
    if os.geteuid() != 0 and not token:
        text = (
            f"tidscope {verb}: recording without rights; with the token of a running tidscope in "
            f"{BROWSER_VARIABLE}, its collector measures"
        )
        print_lines(text, file=sys.stderr, flush=True)
    user = choose_backend_user(None, os.environ, os.geteuid())
    with LocalRecorder(runs, what, user) as recorder:
        yield recorder


def _answers(backend: BackendClient, verb: str) -> bool:
    """Return True if a tidscope that knows the token answers; report a peer that does not."""
    try:
        backend.request_model("/health", HealthResponse)
    except (UnavailableError, RefusedError, UntrustedError) as error:
        print_lines(f"tidscope {verb}: {error}; recording without it", file=sys.stderr, flush=True)
        return False
    return True
