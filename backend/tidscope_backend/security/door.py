"""Trading the token for a session, and seeing who has one."""

import hmac
import math
from collections.abc import Callable, Mapping

from tidscope_wire.generated.models import Role

from tidscope_backend.problems import ProblemError, refusal
from tidscope_backend.security.attempts import Attempts
from tidscope_backend.security.session import Sessions, bearer
from tidscope_backend.settings import Settings

WHERE = "the address that `tidscope up` printed holds it, behind ?token="


class Door:
    """Decides who is let in.

    Args:
        settings: the secrets.
        clock: seconds, monotonic.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self.sessions = Sessions({"operator": settings.token, "viewer": settings.view_token})
        self._collector_secret = settings.collector_secret.encode()
        self._attempts = Attempts(clock)

    def try_token(self, given: str, address: str) -> Role:
        """Let in whoever shows a token.

        Returns:
            What it lets do.

        Raises:
            ProblemError: it is wrong, or this address has shown too many wrong ones.
        """
        wait = self._attempts.wait_seconds(address)
        if wait:
            seconds = math.ceil(wait)
            raise refusal(
                "too-many-attempts",
                f"too many wrong tokens came from {address}",
                f"wait {seconds} s, then use the token that `tidscope up` printed",
                retry_after=str(seconds),
            )
        role = self.sessions.role_of_token(given)
        if role is None:
            self._attempts.failed(address)
            raise refusal("unauthenticated", "this is not the token of this backend", WHERE)
        self._attempts.succeeded(address)
        return role

    def admit(self, headers: Mapping[str, str], address: str) -> Role:
        """Let in whoever has a session, or shows a token as a Bearer.

        Returns:
            What it lets do.

        Raises:
            ProblemError: neither.
        """
        role = self.sessions.role_of_cookie(headers)
        if role is not None:
            return role
        credential = bearer(headers)
        if credential is None:
            raise self.nobody()
        return self.try_token(credential, address)

    def admit_collector(self, headers: Mapping[str, str]) -> bool:
        """Whether a collector shows its secret."""
        given = bearer(headers) or ""
        return hmac.compare_digest(given.encode(), self._collector_secret)

    @staticmethod
    def nobody() -> ProblemError:
        """The refusal of a request without any credential."""
        return refusal("unauthenticated", "the request has no session", f"show the token: {WHERE}")
