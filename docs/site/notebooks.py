"""The notebooks: executed in place (`make notebooks`), and converted to Markdown for the site."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def convert(path: Path) -> dict[str, str | bytes]:
    """Return the page of a notebook and its pictures, by their names."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    files: dict[str, str | bytes] = {}
    lines = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines.append(source)
            continue
        lines.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            text, picture = shown(output)
            if picture:
                name = f"{path.stem}-{len(files) + 1}.png"
                files[name] = b64decode(picture)
                lines.append(f"![Output of the cell above]({name})")
            elif text:
                lines.append(f"```text\n{text.rstrip()}\n```")
    note = f"*This page is a notebook: [{path.name}]({path.name}).*"
    title, _, rest = "\n\n".join(lines).partition("\n")
    files[f"{path.stem}.md"] = f"{title}\n\n{note}\n{rest}\n"
    return files


def shown(output: dict[str, Any]) -> tuple[str, str]:
    """Return the text and the picture (PNG, in base64) of an output."""
    if output["output_type"] == "stream":
        return "".join(output["text"]), ""
    data = output.get("data", {})
    return "".join(data.get("text/plain", "")), "".join(data.get("image/png", ""))


def execute(path: Path) -> Any:
    """Return a notebook with new outputs, without what differs from run to run."""
    import nbclient
    import nbformat
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(path, as_version=4)
    # Sockets in the file system, which nobody else can connect to.
    manager = AsyncKernelManager(transport="ipc")
    client = nbclient.NotebookClient(notebook, km=manager, timeout=300)
    client.owns_km = True  # so that it ends the process
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _join_streams(cell.outputs)
            # Readers of the site get the text.
            for output in cell.outputs:
                output.get("data", {}).pop("text/html", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _join_streams(outputs: list[Any]) -> list[Any]:
    """Return outputs with what was printed as one text: its pieces depend on the time."""
    joined: list[Any] = []
    for output in outputs:
        is_stream = output["output_type"] == "stream"
        if is_stream and joined and joined[-1].get("name") == output["name"]:
            joined[-1]["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def main() -> None:
    """Execute the notebooks, all of them or those that are named, and store their outputs."""
    import nbformat

    names = sys.argv[1:]
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(execute(path), path)
            print(path.name, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
