"""The picture of the circuit, against the reference that is written a second time."""

import numpy as np
import pytest

from tests.reference import code, wiring
from tests.server.running import problem

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "settings", [{}, {"readout": "fly", "learning_rate": 0.1}, {"readout": "bayes"}]
)
@pytest.mark.parametrize("features", [3, 40])
def test_cells_and_inputs_are_those_of_the_circuit(server, features, settings):
    path = server.new_model("numbers", features=features, settings=settings)
    X = RNG.normal(size=(6, features)).round(2)
    samples = [{"vector": x.tolist(), "label": "ab"[i % 2]} for i, x in enumerate(X)]
    server.ask("POST", f"{path}/learn", {"samples": samples})
    found = server.ask("POST", f"{path}/circuit", {"vector": X[0].tolist(), "after": 1, "top": 2})
    model = server.store["numbers"]
    active = code(X[0], model.coder)
    assert found["active"] == list(active)
    assert (found["n_active"], found["n_cells"]) == (len(active), model.coder.n_cells)
    assert found["labels"] == ["a", "b"]
    explanation = model.published.classifier.explain(X[0])
    assert found["cells"]
    for cell in found["cells"]:
        i = explanation.cells.tolist().index(cell["cell"])
        both = explanation.contributions[i]
        assert cell["contributions"] == (both - both.mean()).tolist()
        assert cell["contributions"][0] > 0
        assert cell["activity"] == active[cell["cell"]] / 255
    # What a feature alone adds to the sum of each cell.
    cells = wiring(
        model.coder.seed, model.coder.n_channels, model.coder.n_cells, model.coder.fan_in
    )
    for one in found["inputs"]:
        i, sign = one["input"], np.sign(X[0][one["input"]])
        channels = {"raw": {i: sign}, "signed": {i: sign, i + features: -sign}}.get(
            model.coder.channels, {i if sign > 0 else i + features: 1}
        )
        sums = {
            c["cell"]: sum(channels.get(k, 0) for k in cells[c["cell"]]) for c in found["cells"]
        }
        assert set(one["cells"]) == {cell for cell, total in sums.items() if total > 0}
    assert [one["input"] for one in found["inputs"]] == sorted(
        one["input"] for one in found["inputs"]
    )


def test_a_sample_of_zeros_and_an_empty_model(server):
    path = server.new_model("numbers", features=3)
    problem(server.http.post(f"{path}/circuit", json={"vector": [1, 0, 0]}), 409, "no classes")
    server.learn("numbers", ([1, 0, 0], "a"))
    found = server.ask("POST", f"{path}/circuit", {"vector": [0, 0, 0], "after": 1})
    assert (found["cells"], found["inputs"], found["active"]) == ([], [], [])
    problem(server.http.post(f"{path}/circuit", json={"vector": [1, 0]}), 422, "3 numbers")
    problem(server.http.post(f"{path}/circuit", json={"text": "a"}), 422, "takes vectors alone")
