"""Authentication: tokens, session cookies, collector secrets."""

import hmac
import math
from collections.abc import Callable, Mapping

from tidscope_wire.generated.models import Role
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.security.attempts import FailedAttempts
from tidscope_backend.security.session import Sessions, bearer
from tidscope_backend.settings import Settings

WHERE = "the address that `tidscope up` printed holds it, behind ?token="


class Authenticator:
    """Checks credentials and gives the role that they grant.

    Args:
        settings: the secrets.
        clock: seconds, monotonic.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self.sessions = Sessions({"operator": settings.token, "viewer": settings.view_token})
        self._collector_secret = settings.collector_secret.encode()
        self._attempts = FailedAttempts(clock)

    def check_token(self, given: str, headers: Mapping[str, str], address: str) -> Role:
        """Check a token. A right one is taken whatever came before it.

        Returns:
            The role that it grants.

        Raises:
            ProblemError: it is wrong; of kind too-many-attempts after too many wrong ones from
                this address.
        """
        role = self.sessions.role_of_token(given)
        if role is not None:
            return role
        wait = self._attempts.wait_seconds(address)
        if wait:
            seconds = math.ceil(wait)
            raise refusal(
                "too-many-attempts",
                f"too many wrong tokens came from {address}",
                f"wait {seconds} s, then use the token that `tidscope up` printed",
                retry_after=str(seconds),
            )
        # Any page that a person opens can make their browser send wrong tokens here.
        if headers.get("sec-fetch-site") != "cross-site":
            self._attempts.record_failure(address)
        raise refusal("unauthenticated", "this is not the token of this backend", WHERE)

    def authenticate(self, headers: Mapping[str, str], address: str) -> Role:
        """Check the session cookie, or the token of an Authorization header.

        Returns:
            The role that it grants.

        Raises:
            ProblemError: neither.
        """
        role = self.sessions.role_of_cookie(headers)
        if role is not None:
            return role
        credential = bearer(headers)
        if credential is None:
            raise self.missing_credentials()
        return self.check_token(credential, headers, address)

    def authenticate_collector(self, headers: Mapping[str, str]) -> bool:
        """Whether the Authorization header has the collector secret."""
        given = bearer(headers) or ""
        return hmac.compare_digest(given.encode(), self._collector_secret)

    @staticmethod
    def missing_credentials() -> ProblemError:
        """The refusal of a request without any credential."""
        return refusal("unauthenticated", "the request has no session", f"show the token: {WHERE}")
