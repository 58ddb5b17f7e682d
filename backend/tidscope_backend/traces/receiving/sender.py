"""Who may send spans, and what senders are answered in common."""

import hmac

from tidscope_traces.spans.reading import ReadSpans

SCHEME = "bearer "


def is_sender(authorization: str | None, token: str) -> bool:
    """Whether a request shows the token."""
    if authorization is None or authorization[: len(SCHEME)].lower() != SCHEME:
        return False
    shown = authorization[len(SCHEME) :].strip().encode("utf-8", "surrogatepass")
    return hmac.compare_digest(shown, token.encode())


def rejection_text(read: ReadSpans) -> str:
    """Why spans were rejected, for the partial-success answer."""
    return f"{read.rejected} spans rejected: {'; '.join(read.reasons)}"
