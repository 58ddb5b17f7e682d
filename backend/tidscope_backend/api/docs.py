"""/docs: the interface as one plain page, without scripts: /openapi.json is what programs read."""

from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tidscope_backend.api.openapi import METHODS


def router() -> APIRouter:
    """Make the route."""
    routes = APIRouter()

    @routes.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        schema = request.app.openapi()
        rows = [
            f"<tr><td><code>{method.upper()}</code></td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(str(operation.get('summary', '')))}</td></tr>"
            for path, operations in schema["paths"].items()
            for method, operation in operations.items()
            if method in METHODS
        ]
        title = escape(f"{schema['info']['title']} {schema['info']['version']}")
        return HTMLResponse(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f"<h1>{title}</h1><p>{escape(schema['info']['description'])}</p>"
            '<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>'
            "<table><thead><tr><th>Method</th><th>Path</th><th>What it does</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></html>"
        )

    return routes
