"""The running tidscope that a command talks to, by its address and the token in the environment."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
)
from tidscope_backend.cli.command import CommandError
from tidscope_backend.settings import BROWSER_VARIABLE


@contextmanager
def running_backend(options: argparse.Namespace) -> Iterator[BackendClient]:
    """Connect to the backend that the options name; its refusals end the command with their text.

    Args:
        options: with host and port, as `add_backend_options` adds them.

    Raises:
        CommandError: there is no token, no answer, or a refusal.
    """
    token = os.environ.get(BROWSER_VARIABLE, "")
    if not token:
        raise CommandError(
            f"set {BROWSER_VARIABLE} to the token of a running tidscope: the text after #token= "
            "in the address that `tidscope up` prints"
        )
    try:
        with BackendClient(f"{options.host}:{options.port}", token) as backend:
            yield backend
    except (RefusedError, UntrustedError) as error:
        raise CommandError(str(error)) from None
    except UnavailableError as error:
        raise CommandError(f"no tidscope answers: {error}; start one by `tidscope up`") from None
