"""Structured logs: one JSON object to a line, and no content of samples, labels or keys."""

from __future__ import annotations

import logging
import time
import traceback
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from kenyon.server.call import Call

logger = logging.getLogger("kenyon.server")


class JsonFormatter(logging.Formatter):
    """Writes a record as JSON; of an exception it writes the places, but not the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields: dict[str, Any] = {
            "time": round(record.created, 6),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["at"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return msgspec.json.encode(fields).decode()


def log_request(call: Call, status: int, started: float) -> None:
    """Log a request: changes and errors at level info, other requests at level debug."""
    is_quiet = status < 400 and call.event is None and call.route.scope != "admin"
    level = logging.ERROR if status == 500 else logging.DEBUG if is_quiet else logging.INFO
    if not logger.isEnabledFor(level):
        return
    fields = {
        "method": call.route.method,
        "route": call.route.path,
        "status": status,
        "ms": round(1000 * (time.perf_counter() - started), 3),
        "key": call.who or None,
        "model": call.params.get("name") if status < 400 else None,
        "event": call.event,
    }
    logger.log(level, "request", extra={"fields": {k: v for k, v in fields.items() if v}})


def configure(level: str) -> None:
    """Write the records of the server, and uvicorn's warnings, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name, its_level in (("kenyon", level.upper()), ("uvicorn", "WARNING")):
        found = logging.getLogger(name)
        found.handlers[:] = [handler]
        found.setLevel(its_level)
        found.propagate = False
