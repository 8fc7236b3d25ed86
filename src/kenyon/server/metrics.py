"""Metrics for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from kenyon.server.call import Reply
from kenyon.store.errors import NoSuchModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from kenyon.server.call import Call
    from kenyon.server.routes import Route
    from kenyon.server.service import Service

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (
    *(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0),
)


class Metrics:
    """Counters and histograms of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "kenyon_requests",
            "Requests by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "kenyon_request_seconds",
            "Time from the head of a request to its answer.",
            ["method", "route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.predicted = Counter(
            "kenyon_predicted_samples", "Samples answered.", registry=self.registry
        )
        self.learned = Counter("kenyon_learned_samples", "Samples learned.", registry=self.registry)
        self.batch_rows = Histogram(
            "kenyon_predict_batch_rows",
            "Samples that one call of a classifier answered together.",
            buckets=(1, 2, 4, 8, 16, 32),
            registry=self.registry,
        )
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        # Looking up a child by its labels takes longer than counting.
        self._children: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def count(self, route: Route, status: int, seconds: float) -> None:
        """Count a request."""
        key = route.method, route.path, status
        children = self._children.get(key)
        if children is None:
            children = self._children[key] = (
                self._requests.labels(route.method, route.path, status),
                self._seconds.labels(route.method, route.path),
            )
        children[0].inc()
        children[1].observe(seconds)


class StoreCollector(Collector):
    """Values of the store and its models, read at each scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Return the present values."""
        service = self._service
        yield GaugeMetricFamily(
            "kenyon_requests_in_progress", "Requests in progress.", service.load.requests
        )
        yield GaugeMetricFamily(
            "kenyon_body_bytes", "Bytes of bodies in progress.", service.load.bytes
        )
        yield GaugeMetricFamily("kenyon_live_streams", "Open streams.", service.load.live)
        yield GaugeMetricFamily(
            "kenyon_pool_waiting", "Calls in or before a thread.", service.pool.waiting
        )
        yield GaugeMetricFamily(
            "kenyon_queue", "Changes that wait to be written.", service.store.n_waiting
        )
        yield CounterMetricFamily(
            "kenyon_commits", "Transactions written.", service.store.n_commits
        )
        of_models = {
            "event": GaugeMetricFamily(
                "kenyon_model_event", "Number of the last durable event.", labels=["model"]
            ),
            "lag": GaugeMetricFamily(
                "kenyon_model_lag_events", "Durable events not yet published.", labels=["model"]
            ),
            "samples": GaugeMetricFamily(
                "kenyon_model_samples", "Samples learned and not unlearned.", labels=["model"]
            ),
        }
        for name in service.store.names():
            try:
                serving = service.serving(name)
            except NoSuchModel:  # deleted meanwhile
                continue
            if not serving.is_loaded:
                continue
            model = serving.model
            event, published = model.event, model.published.event
            of_models["event"].add_metric([name], event)
            of_models["lag"].add_metric([name], max(0, event - published))
            of_models["samples"].add_metric([name], model.n_samples)
        yield from of_models.values()


async def show_metrics(call: Call) -> Reply:
    """Return the metrics in Prometheus's text format."""
    return Reply(generate_latest(call.service.metrics.registry), MEDIA_TYPE)
