"""How a check is made, and what several of them say."""

from tidscope_wire.generated.models import CheckStatus, DoctorCheck

PROC_FALLBACK = (
    "Threads are read from /proc: at more than ten times the cost, without block I/O and memory "
    "delays, and without exit records of threads that end between two samples."
)


def make_check(
    about: tuple[str, str],
    status: CheckStatus,
    finding: str,
    impact: str = "",
    fix: str = "",
    enabled: bool | None = None,
) -> DoctorCheck:
    """A check; `about` is its name and title."""
    name, title = about
    return DoctorCheck(
        name=name,
        title=title,
        status=status,
        finding=finding,
        impact=impact,
        fix=fix,
        enabled=enabled,
    )
