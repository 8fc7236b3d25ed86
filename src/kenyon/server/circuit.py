"""The route that shows an answer as the circuit computes it: inputs, active cells, classes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta

from kenyon.server.batching import learned
from kenyon.server.predicting import wait_for_event
from kenyon.server.wire import Answer, EventNumber, Label, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kenyon.circuit import Coder
    from kenyon.explanation import Explanation
    from kenyon.server.call import Call
    from kenyon.server.serving import Serving

MAX_CELLS, MAX_LABELS, MAX_INPUTS = 40, 20, 64
MAX_ACTIVE = 5_000


class AskCircuit(Question, kw_only=True):
    """A request to show one sample in the circuit."""

    top: Annotated[int, Meta(ge=1, le=MAX_LABELS)] = 8
    """How many classes to show, the best first."""
    after: EventNumber | None = None
    """Answer from a state that includes this event."""


class InputValue(Answer, kw_only=True):
    """One of the strongest features of the sample."""

    input: int
    value: float
    """As a share of the strongest."""
    cells: list[int]
    """Those of the named cells that it excites."""


class NamedCell(Answer, kw_only=True):
    """An active cell, and its contribution to each class."""

    cell: int
    activity: float
    contributions: list[float]
    """What it adds to the score of a class, less the mean over all classes."""


class Circuit(Answer, kw_only=True):
    """A sample in the circuit."""

    event: int
    features: int
    n_cells: int
    n_active: int
    labels: list[Label]
    """The best first."""
    cells: list[NamedCell]
    """Those that contribute most to the first class."""
    active: list[int]
    inputs: list[InputValue]


async def show_circuit(call: Call) -> Circuit:
    """Show the cells that contribute most to the answer, and the inputs that excite them."""
    serving, request = call.serving, await call.json()
    X = await serving.features([request], call.service.pool)
    await serving.loaded(call.service)
    await wait_for_event(call, serving, request.after)
    return await call.service.pool.run(_show, serving, X, request.top)


def _show(serving: Serving, X: NDArray[Any], top: int) -> Circuit:
    published = serving.model.published
    classifier = learned(serving.model, published)
    labels = classifier.predict_top(X, top).labels[0].tolist()
    explanation, coder = classifier.explain(X[0]), classifier.circuit_.coder
    order = [explanation.classes.tolist().index(label) for label in labels]
    contributions = _compare(explanation)[:, order]
    named = _speakers(contributions[:, 0])
    return Circuit(
        event=published.event,
        features=X.shape[1],
        n_cells=coder.n_cells,
        n_active=len(explanation.cells),
        labels=labels,
        cells=[
            NamedCell(
                cell=int(explanation.cells[i]),
                activity=float(explanation.activity[i]),
                contributions=contributions[i].tolist(),
            )
            for i in named
        ],
        active=explanation.cells[:MAX_ACTIVE].tolist(),
        inputs=_inputs(coder, X[0], explanation, named),
    )


def _compare(explanation: Explanation) -> NDArray[np.float64]:
    """Return what cells add to the scores, compared with the mean over the classes.

    The scores of "bayes" are sums of logarithms, which all cells make smaller.
    """
    if len(explanation.classes) == 1:
        return explanation.activity[:, np.newaxis]
    effects = explanation.contributions
    found: NDArray[np.float64] = effects - effects.mean(axis=1, keepdims=True)
    return found


def _speakers(effects: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the active cells that add most to the score of the answer."""
    largest = np.argsort(-effects, kind="stable")[:MAX_CELLS]
    found: NDArray[np.intp] = largest[effects[largest] > 0]
    return found


@lru_cache(maxsize=8)
def _uninhibited(coder: Coder) -> Coder:
    """Return a coder whose cells are all active where a feature alone excites them."""
    return replace(coder, n_active=coder.n_cells, inhibition="cut")


def _inputs(
    coder: Coder, x: NDArray[Any], explanation: Explanation, named: NDArray[np.intp]
) -> list[InputValue]:
    """Return the strongest features in their order, with the named cells that each excites."""
    # Equal features, such as the pixels of a drawn line, come from everywhere in the sample.
    shuffled = np.random.default_rng(0).permutation(len(x))
    strongest = shuffled[np.argsort(-np.abs(x[shuffled]), kind="stable")][:MAX_INPUTS]
    strongest = np.sort(strongest[x[strongest] != 0])
    if not len(strongest):
        return []
    alone = np.zeros((len(strongest), len(x)), dtype=np.float32)
    alone[np.arange(len(strongest)), strongest] = np.sign(x[strongest])
    cells = explanation.cells[named]
    found = []
    for rows, codes in _uninhibited(coder).encode(alone, 1):
        ends, excited, _ = codes.to_csr()
        for i, feature in enumerate(strongest[rows]):
            mine = np.intersect1d(cells, excited[ends[i] : ends[i + 1]])
            found.append((int(feature), mine.tolist()))
    largest = float(np.abs(x).max())
    return [
        InputValue(input=feature, value=float(x[feature]) / largest, cells=mine)
        for feature, mine in found
    ]
