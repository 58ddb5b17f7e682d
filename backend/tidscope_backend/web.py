"""The built page: its files, and index.html for every address that the page itself resolves."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from tidscope_backend.responses import not_found
from tidscope_backend.security.rights import is_guarded

IMMUTABLE = "public, max-age=31536000, immutable"
NOT_BUILT = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>tidscope</title>'
    "<h1>The page is not built</h1>"
    "<p>The backend runs, but the files of its page are not there. Run <code>make build</code> "
    "in the checkout (or <code>make up</code>, which does it), then reload.</p></html>"
)


def router(folder: Path) -> APIRouter:
    """Make the route; it takes every path that no other route took.

    Args:
        folder: where the built page lies; files under assets/ have a hash in their name.
    """
    routes = APIRouter()

    @routes.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        if is_guarded(request.url.path) or path.startswith("api/"):
            raise not_found(request.url.path)
        file = _find(folder, path)
        if file is not None:
            hashed = path.startswith("assets/")
            cache = IMMUTABLE if hashed else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache})
        if "." in path.rpartition("/")[2]:
            # A file that is not there; answering with the page would hide that.
            raise not_found(request.url.path)
        index = folder / "index.html"
        if not index.is_file():
            return HTMLResponse(NOT_BUILT, status_code=503, headers={"Cache-Control": "no-store"})
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    return routes


def _find(folder: Path, path: str) -> Path | None:
    """The file that a path names, unless that leads out of the folder."""
    if not path or "\0" in path:
        return None
    file = (folder / path).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
