"""The browser's token and the cookie that it is traded for."""

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

COOKIE = "tidscope_session"


class Sessions:
    """Checks tokens and cookies in constant time.

    The cookie is derived from the token, so it is still good after a restart with the same token,
    and nobody who reads it learns the token.

    Args:
        token: what a person's browser has to show.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._cookie = hmac.new(self._token, b"tidscope session 1", hashlib.sha256).hexdigest()

    def is_token(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(given.encode(), self._token)

    def has_cookie(self, headers: Mapping[str, str]) -> bool:
        """Whether a request carries a valid cookie."""
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(
            morsel.value.encode(), self._cookie.encode()
        )

    def cookie_header(self, secure: bool) -> str:
        """Value of Set-Cookie that begins a session."""
        return f"{COOKIE}={self._cookie}; {_attributes(secure)}"

    @staticmethod
    def end_header(secure: bool) -> str:
        """Value of Set-Cookie that ends a session."""
        return f"{COOKIE}=; Max-Age=0; {_attributes(secure)}"


def _attributes(secure: bool) -> str:
    return "HttpOnly; SameSite=Strict; Path=/" + ("; Secure" if secure else "")


def bearer(headers: Mapping[str, str]) -> str | None:
    """The credential of an Authorization header of kind Bearer, if there is one."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" and credential.strip() else None
