"""The command `show`."""

import json
from pathlib import Path
from typing import Any

import kenyon
from kenyon.cli.models import classifier_of, describe_encoder, feature_names_of
from kenyon.cli.options import AsJson, Model
from kenyon.cli.visible import visible_label

EXAMPLES = """
kenyon show intents.kenyon
kenyon show intents.kenyon --json | jq .classes
"""


def show(model: Model, as_json: AsJson = False) -> None:
    """Show the classes, the parameters and the sizes of a model."""
    content = describe(model)
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        _print_tables(content)


def describe(path: Path) -> dict[str, Any]:
    """Return the content of a model file as values that JSON can hold."""
    from kenyon._files import TensorFile
    from kenyon.model_file import format_version

    model = kenyon.pipeline.load_unchecked(path)
    classifier = classifier_of(model)
    parameters = classifier.get_params(deep=False)
    counts = zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True)
    return {
        "file": str(path),
        "file_bytes": path.stat().st_size,
        "digest": TensorFile(path).metadata["digest"],
        "format_version": format_version(path),
        "encoder": describe_encoder(model),
        "kept_texts": model.n_texts if getattr(model, "keep_texts", False) else None,
        "readout": parameters.pop("readout"),
        "parameters": parameters,
        "circuit": classifier.circuit_.coder.parameters(),
        "features": feature_names_of(model),
        "classes": [{"label": label, "samples": samples} for label, samples in counts],
        "n_samples": model.n_samples_seen_,
        "nbytes": model.nbytes,
    }


def _print_tables(content: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    summary = {
        "file": content["file"],
        "format version": content["format_version"],
        "digest": content["digest"],
        "encoder": _describe_encoder(content["encoder"]),
        "kept texts": _describe_texts(content["kept_texts"]),
        "readout": content["readout"],
        "classes": f"{len(content['classes']):,}",
        "samples": f"{content['n_samples']:,}",
        "in memory": f"{content['nbytes'] / 1e6:,.2f} MB",
        "file size": f"{content['file_bytes'] / 1e6:,.2f} MB",
    }

    def plain(value: Any) -> Text:
        """Return a value as text in which rich reads no markup."""
        return Text(visible_label(value), overflow="fold")

    console = Console()
    if not console.is_terminal:
        # In a pipe a digest stays on one line.
        console.width = max(console.width, 100)
    sections = {
        "Model": summary,
        "Circuit": content["circuit"],
        "Parameters": content["parameters"],
    }
    for title, section in sections.items():
        table = Table(title=title, box=box.SIMPLE, show_header=False, title_justify="left")
        for name, value in section.items():
            table.add_row(name, plain(value))
        console.print(table)
    classes = Table("class", Column("samples", justify="right"), box=box.SIMPLE_HEAD)
    for row in content["classes"]:
        classes.add_row(plain(row["label"]), f"{row['samples']:,}")
    console.print(classes)


def _describe_encoder(encoder: dict[str, Any] | None) -> str:
    if encoder is None:
        return "none (the model learns features)"
    return f"{encoder['model']} ({encoder['kind']}, digest {encoder['digest'][:16]})"


def _describe_texts(kept: int | None) -> str:
    return "no" if kept is None else f"yes, {kept:,}"
