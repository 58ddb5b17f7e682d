"""Redaction of secrets in command lines and program output.

Patterns find well-known forms; a secret of no known form stays. Every quantifier is bounded, so
that no text takes more than a time in proportion to its length.
"""

import re
from collections.abc import Iterable, Sequence

REDACTED = "[redacted]"
MARGIN = 4096
"""Characters to read beyond the kept text, because a secret may be cut in two."""

_NAME = (
    r"(?:pass(?:wd|word|phrase)|(?<![a-z])(?:pass|pwd)(?![a-z])|secret|token(?![si][a-z]|s\b)|credential"
    r"|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|encryption[_-]?key|signing[_-]?key)"
)
"""Names whose value is a secret."""
_VALUE = r"""(?:"[^"\r\n]{0,4096}"|'[^'\r\n]{0,4096}'|[^\s"'&;,]{1,4096})"""
_WORD = rf"[\w.-]{{0,48}}?{_NAME}[\w.-]{{0,48}}"
_RULES: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern, re.IGNORECASE if ignore_case else 0), replacement)
    for pattern, replacement, ignore_case in (
        (
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
            r"[\s\S]{0,16384}?(?:-----END [A-Z ]{0,40}-----|\Z)",
            REDACTED,
            False,
        ),
        # Rest of a secret that begins before the text.
        (r"\A[\w+/=\s]{64,16384}-----END [A-Z ]{0,40}PRIVATE KEY-----", REDACTED, False),
        # scheme://user:password@host, and scheme://token@host
        (r"(?<![\w+.-])([a-z][a-z0-9+.-]{1,30}://)[^\s/?#@'\"]{1,1024}@", rf"\1{REDACTED}@", True),
        (
            r"\b((?:proxy-)?authorization\s{0,8}[:=]\s{0,8}[\"']?)"
            r"(?:[a-z-]{1,24} )?[^\s\"']{1,4096}",
            rf"\1{REDACTED}",
            True,
        ),
        (r"\b(bearer|basic)(\s{1,8})[\w.~+/=-]{6,4096}", rf"\1\2{REDACTED}", True),
        # NAME=value, name: value, "name": "value"
        (
            rf"((?<![\w.-]){_WORD}[\"']?[ \t]{{0,4}}[=:][ \t]{{0,4}}){_VALUE}",
            rf"\1{REDACTED}",
            True,
        ),
        # --name value
        (
            rf"((?<!\S)--?{_WORD}\s{{1,4}}){_VALUE}",
            rf"\1{REDACTED}",
            True,
        ),
        (r"\b(?:AKIA|ASIA|AGPA|AROA)[0-9A-Z]{16}\b", REDACTED, False),
        (r"\bgh[oprsu]_[A-Za-z0-9]{20,255}", REDACTED, False),
        (r"\bgithub_pat_\w{20,255}", REDACTED, False),
        (r"\bglpat-[\w-]{16,255}", REDACTED, False),
        (r"\bxox[abeoprs]-[\w-]{8,255}", REDACTED, False),
        (r"\b(?:sk|rk|pk)_(?:live|test)_\w{8,255}", REDACTED, False),
        (r"\bsk-[\w-]{20,255}", REDACTED, False),
        (r"\bAIza[\w-]{30,64}", REDACTED, False),
        (r"\bnpm_[A-Za-z0-9]{30,64}", REDACTED, False),
        (r"\btds_[\w-]{20,64}", REDACTED, False),
        (r"\beyJ[\w-]{8,4096}\.[\w-]{8,4096}(?:\.[\w-]{0,4096})?", REDACTED, False),
    )
]
_OPTION = re.compile(rf"--?{_WORD}", re.IGNORECASE)


def redact(text: str) -> str:
    """Replace secrets in a text by `[redacted]`."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def redact_arguments(arguments: Iterable[str]) -> list[str]:
    """Redact a command line, in which a secret may be the argument after its option."""
    found: list[str] = []
    is_value = False
    for argument in arguments:
        is_value = is_value and not argument.startswith("--")
        found.append(REDACTED if is_value else redact(argument))
        is_value = _OPTION.fullmatch(argument) is not None
    return found
