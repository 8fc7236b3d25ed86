"""The first page: static files without a key, which ask for one."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from kenyon.server.call import Reply
from kenyon.server.problems import Problem

if TYPE_CHECKING:
    from kenyon.server.call import Call

POLICY = "; ".join(
    (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"),
        *("img-src 'self' data:", "base-uri 'none'", "form-action 'none'"),
        # Not even a script of the page can make HTML or code of a string.
        *("frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"),
    )
)
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def _read_files() -> dict[str, tuple[bytes, str]]:
    found = {}
    for file in files("kenyon.server").joinpath("page").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in TYPES:
            found[file.name] = file.read_bytes(), TYPES[suffix]
    return found


FILES = _read_files()


async def show_page(call: Call) -> Reply:
    """Return the page."""
    return _reply("index.html")


async def show_file(call: Call) -> Reply:
    """Return a file of the page."""
    return _reply(call.params["file"])


def _reply(name: str) -> Reply:
    if name not in FILES:
        raise Problem(404, f"there is no file {name!r:.120}")
    content, media_type = FILES[name]
    headers = {"content-security-policy": POLICY, "cache-control": "no-cache"}
    return Reply(content, media_type, headers=headers)
