"""The files of models: folders, names of the Hugging Face Hub, and digests."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# The repositories also have models in the formats of other libraries.
PATTERNS = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"]
OTHER_FORMATS = ["onnx/*", "openvino/*"]
NEWER = "model.safetensors", "model.safetensors.index.json"

_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package, which is not imported; None if there is none."""
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None


def require(user: str, packages: dict[str, str], extra: str) -> None:
    """Raise ImportError unless all packages, by the names of their modules, are installed."""
    missing = [name for module, name in packages.items() if find_spec(module) is None]
    if missing:
        raise ImportError(f"{user} needs {' and '.join(missing)}: pip install 'kenyon[{extra}]'")


def is_folder(name: str) -> bool:
    """Return whether there is a folder of this name; a name that no file can have is none."""
    try:
        return Path(name).is_dir()
    except OSError:
        return False


def find_folder(name: str, *, is_local: bool) -> Path:
    """Return the folder of a model: `name` itself, or that of a model of the Hugging Face Hub.

    Parameters
    ----------
    name : str
        A folder, or the name of a model.
    is_local : bool
        Whether a model that is not on this machine is an error; otherwise it is downloaded.

    Raises
    ------
    OSError
        If there is no such model, or it cannot be downloaded.
    """
    if is_folder(name):
        return Path(name)
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(f"there is no folder {name!r} with a model")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise ImportError(
            f"the model {name!r} needs huggingface-hub: pip install 'kenyon[text]'"
        ) from None
    options: dict[str, Any] = {"allow_patterns": PATTERNS, "ignore_patterns": OTHER_FORMATS}
    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        folder = Path(snapshot_download(repository, local_files_only=True, **options))
        if any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin")):
            return folder
    # The library raises errors of many types.
    except Exception as error:
        if is_local:
            raise FileNotFoundError(_not_here(name)) from error
    if is_local:
        raise FileNotFoundError(_not_here(name))
    try:
        return Path(snapshot_download(repository, **options))
    except Exception as error:
        raise OSError(
            f"model must be a folder or the name of a model that is on this machine or can be "
            f"downloaded, but {name!r} is neither"
        ) from error


def _not_here(name: str) -> str:
    return (
        f"the model {name!r} is not on this machine: TextEncoder({name!r}).fit() downloads it once"
    )


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or None if there is none or it is damaged."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, RecursionError, ValueError):
        return None


def module_types(folder: Path) -> list[str]:
    """Return the types of the modules of a sentence-transformers model; none for other folders."""
    modules = read_json(folder / "modules.json")
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        return []
    return [str(module.get("type")) for module in modules]


def is_static(folder: Path) -> bool:
    """Return whether a folder holds a model of model2vec."""
    types = module_types(folder)
    if types:
        return types[0].endswith(".StaticEmbedding")
    config = read_json(folder / "config.json")
    return isinstance(config, dict) and config.get("model_type") == "model2vec"


def used_files(folder: Path) -> list[Path]:
    """Return the files of weights and settings in a model's folder, sorted."""
    found = {path for pattern in PATTERNS for path in folder.rglob(pattern) if path.is_file()}
    used = []
    for path in found:
        parts = path.relative_to(folder).parts
        is_other = parts[0] in {"onnx", "openvino"} or any(part.startswith(".") for part in parts)
        # Weights in the older format are read only where those in the newer are missing.
        is_older = path.match("pytorch_model*.bin") and any(
            path.with_name(newer).is_file() for newer in NEWER
        )
        if not is_other and not is_older:
            used.append(path)
    return sorted(used)


Signature = tuple[tuple[str, int, int], ...]


def signature(paths: Iterable[Path]) -> Signature:
    """Return names, sizes and times of files, which change with their content."""
    stats = ((str(path), path.stat()) for path in paths)
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def check_unchanged(paths: Iterable[Path], before: Signature) -> None:
    """Raise ValueError if files changed: the weights that were read are not those of the digest."""
    paths = list(paths)
    if signature(paths) != before:
        raise ValueError(
            f"the model in {str(paths[0].parent)!r} changed after its digest was taken"
        )


def digest_files(folder: Path, paths: Iterable[Path]) -> str:
    """Return the SHA-256 of files and of their names in the folder, in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        name = path.relative_to(folder).as_posix().encode()
        digest.update(b"%d %s %d " % (len(name), name, path.stat().st_size))
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()
