"""The browsers' tokens and the cookies that they are traded for."""

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from tidscope_wire.generated.models import Role

COOKIE = "tidscope_session"


class Sessions:
    """Checks tokens and cookies in constant time.

    A cookie is derived from its token, so it is still good after a restart with the same token,
    and nobody who reads it learns the token.

    Args:
        tokens: what a person's browser has to show, for each role.
    """

    def __init__(self, tokens: Mapping[Role, str]) -> None:
        self._tokens = {role: token.encode() for role, token in tokens.items()}
        self._cookies = {
            role: hmac.new(token, b"tidscope session 1", hashlib.sha256).hexdigest()
            for role, token in self._tokens.items()
        }

    def role_of_token(self, given: str) -> Role | None:
        """What this token lets do; None if it is none."""
        return _matching(self._tokens, given.encode())

    def role_of_cookie(self, headers: Mapping[str, str]) -> Role | None:
        """What a request's cookie lets do; None if it has none that is valid."""
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return None
        if morsel is None:
            return None
        cookies = {role: cookie.encode() for role, cookie in self._cookies.items()}
        return _matching(cookies, morsel.value.encode())

    def cookie_header(self, role: Role, secure: bool) -> str:
        """Value of Set-Cookie that begins a session."""
        return f"{COOKIE}={self._cookies[role]}; {_attributes(secure)}"

    @staticmethod
    def end_header(secure: bool) -> str:
        """Value of Set-Cookie that ends a session."""
        return f"{COOKIE}=; Max-Age=0; {_attributes(secure)}"


def _matching(known: Mapping[Role, bytes], given: bytes) -> Role | None:
    # All are compared, so that the time does not tell which one was nearly right.
    found = [role for role, secret in known.items() if hmac.compare_digest(given, secret)]
    return found[0] if found else None


def _attributes(secure: bool) -> str:
    return "HttpOnly; SameSite=Strict; Path=/" + ("; Secure" if secure else "")


def bearer(headers: Mapping[str, str]) -> str | None:
    """The credential of an Authorization header of kind Bearer, if there is one."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" and credential.strip() else None
