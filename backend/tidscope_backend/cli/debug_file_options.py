"""Options of debug files that are fetched from debuginfod servers."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.server_options import GIB, positive_number
from tidscope_backend.debug_files.servers import VARIABLE, BadServerError, servers_of
from tidscope_backend.settings import DebugFileSettings, Settings, cache_directory


def add_debug_file_options(parser: argparse.ArgumentParser) -> None:
    """Add the servers, the folder and its bound."""
    parser.add_argument(
        "--debuginfod",
        action="append",
        nargs="?",
        const="",
        default=[],
        metavar="URL",
        help="fetch debug files of programs in stacks from a debuginfod server, which learns their "
        f"build IDs (repeatable; without URL: those of ${VARIABLE})",
    )
    parser.add_argument(
        "--debug-files",
        type=Path,
        metavar="DIR",
        help="folder for fetched debug files (default: tidscope/debug in the user's cache folder)",
    )
    parser.add_argument(
        "--debug-files-gib",
        type=positive_number,
        default=2.0,
        metavar="N",
        help="delete the debug files used longest ago when all of them exceed N GiB (%(default)g)",
    )


def debug_file_settings(
    options: argparse.Namespace, environ: Mapping[str, str]
) -> DebugFileSettings | None:
    """Return where debug files come from and are kept; None if they are not fetched.

    Raises:
        CommandError: an address is invalid, or there is no folder.
    """
    if not options.debuginfod:
        return None
    try:
        servers = servers_of(options.debuginfod, environ)
    except BadServerError as error:
        raise CommandError(str(error)) from None
    chosen: Path | None = options.debug_files
    cache = cache_directory(environ)
    if chosen is None and cache is None:
        raise CommandError("there is no cache folder; name a folder by --debug-files")
    folder = chosen if chosen is not None else (cache or Path()) / "debug"
    return DebugFileSettings(servers, folder.absolute(), int(options.debug_files_gib * GIB))


def debug_file_arguments(found: DebugFileSettings | None) -> list[str]:
    """Return the settings as arguments of another command."""
    if found is None:
        return []
    return [
        *(part for server in found.servers for part in ("--debuginfod", server)),
        *("--debug-files", str(found.folder)),
        *("--debug-files-gib", f"{found.max_bytes / GIB!r}"),
    ]


def with_debug_files(
    settings: Settings, options: argparse.Namespace, environ: Mapping[str, str]
) -> Settings:
    """Return settings with the options of debug files. Raises as `debug_file_settings`."""
    return replace(settings, debug_files=debug_file_settings(options, environ))
