"""A task for each group of partitions, and a tree of tasks that merges what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import List, Task, TaskRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kenyon.dask.partitions import Group, Partition

FAN_IN = 4
"""Results that one task merges."""

Batch = tuple[Any, ...]
"""X and y of one partition, and weights if there are any."""


def reduce_groups(
    name: str,
    of_group: Callable[[Any, Iterator[Batch]], Any],
    shared: Any,
    merge: Callable[[list[Any]], Any],
    groups: list[Group],
) -> Delayed:
    """Return the merged results of all groups.

    The functions must depend on their arguments alone, since any task may run again. Dask's own
    `delayed` would take minutes to build the graph of some thousand partitions.

    Parameters
    ----------
    name : str
        The name of the groups' tasks, as the dashboard shows it.
    of_group : callable
        From `shared` and batches to a result.
    shared : Delayed or object
        What all groups need.
    merge : callable
        From a list of results to a result.
    groups : list of Group
    """
    token = uuid4().hex
    sources = [source for group in groups for each in group.partitions for source in _listed(each)]
    if isinstance(shared, Delayed):
        sources.append(shared)
        shared = TaskRef(shared.key)
    layer: dict[Any, Task] = {}
    for number, (first, partitions) in enumerate(groups):
        key = f"{name}-{token}", number
        layer[key] = Task(key, _apply, of_group, first, shared, List(*map(_refer, partitions)))
    root = _merge_all(merge, token, layer)
    graph = HighLevelGraph.from_collections(token, layer, dependencies=sources)
    return Delayed(root.key, graph, layer=token)


def _merge_all(merge: Callable[[list[Any]], Any], token: str, layer: dict[Any, Task]) -> Task:
    """Add tasks that merge the results of all others, and return the last one."""
    results, depth = [*layer.values()], 0
    while len(results) > 1:
        depth += 1
        merged = []
        for start in range(0, len(results), FAN_IN):
            key = f"merge-{token}", depth, start // FAN_IN
            some = [result.ref() for result in results[start : start + FAN_IN]]
            layer[key] = Task(key, merge, List(*some))
            merged.append(layer[key])
        results = merged
    return results[0]


def _listed(partition: Partition) -> list[Delayed]:
    return [partition] if isinstance(partition, Delayed) else [*partition]


def _refer(partition: Partition) -> Any:
    """Return a reference to the value, or the values, of a partition."""
    references = [TaskRef(source.key) for source in _listed(partition)]
    return references[0] if isinstance(partition, Delayed) else List(*references)


def _apply(
    of_group: Callable[[Any, Iterator[Batch]], Any],
    first: int,
    shared: Any,
    partitions: Iterable[Iterable[Any]],
) -> Any:
    return of_group(shared, checked(first, partitions))


def checked(first: int, partitions: Iterable[Iterable[Any]]) -> Iterator[Batch]:
    """Yield partitions; raise ValueError where their columns have different numbers of rows."""
    for number, partition in enumerate(partitions, first):
        batch = tuple(partition)
        sizes = [*map(n_rows, batch)]
        if len(set(sizes)) > 1:
            raise ValueError(
                "X, y and sample_weight must have the same rows in every partition, but partition "
                f"{number} has {', '.join(map(str, sizes))} rows of them"
            )
        yield batch


def n_rows(data: Any) -> int:
    """Return the number of rows of a partition."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)
