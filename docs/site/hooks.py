"""Steps of `make docs`: pages from outside of `docs`, notebooks, links, and use without a network.

MkDocs calls the functions `on_...`. The site also has pages that are not Markdown files in `docs`:
the first page and others of the root, the results of the benchmarks, and the notebooks. Their links
are those of the repository, as on a code host, and are rewritten here for the site.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from docs.site import notebooks

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    "lab/README.md": "lab.md",
    "lab/src/kenyon_lab/data/packaged/NOTICE.md": "notice.md",
    **{f"{name}.md": f"{name.lower()}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")},
    **{
        f"benchmarks/results/{path.name}": f"results/{path.name}"
        for path in (ROOT / "benchmarks" / "results").glob("*.md")
    },
}
"""Pages from outside of `docs`: the file in the repository and the file in the site."""

ALONE = "index.md", "quickstart.md", "benchmarks.md"
"""Pages that are a section of their own, and so need no list of its pages beside them."""

SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|mailto:|#)([^)\s#]+)([^)\s]*)\)")
CODE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
EXTERNAL = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//"
    r"|<link\b(?=[^>]*\brel=[\"']?(?:stylesheet|preload|preconnect|icon))"
    r"[^>]*\bhref=[\"']?(?:https?:)?//"
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside of `docs`, and a page for each notebook."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        for name, content in notebooks.convert(path).items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links to files that the site has in another place, and lay out the page."""
    if page.file.src_uri in ALONE:
        page.meta["hide"] = ["navigation"]
    parts = CODE.split(markdown)
    # Code is in the odd places.
    parts[::2] = (
        LINK.sub(lambda link: _rewritten(link, page.file.src_uri, files, config), part)
        for part in parts[::2]
    )
    # A comment directly above a table would be read as a part of it.
    return re.sub(r"^(<!--.*?-->)\n(?=\|)", r"\1\n\n", "".join(parts), flags=re.MULTILINE)


def _rewritten(link: re.Match[str], page: str, files: Files, config: MkDocsConfig) -> str:
    """Return a link of a page of the site; MkDocs checks that its target exists."""
    text, target, anchor = link.groups()
    source = SOURCES.get(page, f"docs/{page}")
    path = normpath(str(PurePosixPath(source).parent / target))
    if (ROOT / path).is_dir():
        return text  # the site lists no folders
    in_site = PAGES.get(path) or path.removeprefix("docs/")
    if in_site == path and files.get_file_from_path(path) is None:
        if not (ROOT / path).exists():
            raise PluginError(f"{source} links to {target}, which does not exist")
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return f"[{text}]({relpath(in_site, PurePosixPath(page).parent)}{anchor})"


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse scripts, styles and pictures from other places: the site works offline."""
    for path in Path(config.site_dir).rglob("*.html"):
        found = EXTERNAL.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{path.name} loads from another place: {found[0]}")
