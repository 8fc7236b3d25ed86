"""Export a model of each readout, and the answers that predict.mjs must give.

Run as `python export.py FOLDER`.
"""

import json
import sys
from pathlib import Path

from sklearn.datasets import load_digits

import kenyon.onnx
from kenyon import FlyClassifier

folder = Path(sys.argv[1])
X, y = load_digits(return_X_y=True)
names = [f"digit {digit}" for digit in y]
expected = {"samples": X[1000:].tolist(), "models": {}}
for readout in ("fly", "bayes", "ridge"):
    model = FlyClassifier(readout=readout).fit(X[:1000], names[:1000])
    outputs = "label", "probabilities", "scores", "classes"
    kenyon.onnx.export(model, folder / f"{readout}.onnx", outputs=outputs)
    expected["models"][readout] = {
        "label": model.predict(X[1000:]).tolist(),
        "probabilities": model.predict_proba(X[1000:]).tolist(),
        "scores": model.decision_function(X[1000:]).tolist(),
    }
(folder / "expected.json").write_text(json.dumps(expected))
