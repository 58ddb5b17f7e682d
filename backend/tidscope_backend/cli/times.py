"""Times that people write on the command line."""

from datetime import UTC, datetime, timedelta

from tidscope_backend.cli.command import CommandError

_FORMS = ("%H:%M", "%H:%M:%S")


def unix_us_of(text: str, latest_us: int) -> int:
    """Read a time.

    Args:
        text: a date and time (ISO 8601, local without an offset), a time of day (the last one up
            to `latest_us`), or seconds before `latest_us` such as -90.
        latest_us: Unix microseconds.

    Raises:
        CommandError: it is none of these.
    """
    if text.startswith("-"):
        try:
            return latest_us + int(float(text) * 1e6)
        except ValueError:
            raise _bad(text) from None
    latest = datetime.fromtimestamp(latest_us / 1e6, UTC).astimezone()
    for form in _FORMS:
        try:
            day = datetime.strptime(text, form)
        except ValueError:
            continue
        found = latest.replace(hour=day.hour, minute=day.minute, second=day.second, microsecond=0)
        return int((found if found <= latest else found - timedelta(days=1)).timestamp() * 1e6)
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1e6)
    except ValueError:
        raise _bad(text) from None


def _bad(text: str) -> CommandError:
    return CommandError(f"{text!r} is no time; use 03:12, 2026-11-29T03:12:00 or -90 (seconds)")
