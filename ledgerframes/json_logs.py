"""Log records as JSON, one line per event, for jobs whose logs a machine reads."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

__all__ = ["JsonFormatter"]

EVENT = re.compile(r"[a-z]+(_[a-z]+)+(?= |$)")
FIELD = re.compile(r"(\w+)=(%[sd])")
OWN = ("time", "level", "logger", "event", "message", "exception")


class JsonFormatter(logging.Formatter):
    """A formatter of the standard library that writes one JSON object per record.

    The members are ``time`` [UTC], ``level``, ``logger``, ``event`` and the fields of the event, such as ``network``. A
    record from another library has a ``message`` instead of an event. No record of this library contains a token.

    Examples
    --------
    >>> import json, logging
    >>> from ledgerframes.json_logs import JsonFormatter
    >>> record = logging.LogRecord("ledgerframes", logging.INFO, "", 0, "segments_merged count=%d", (3,), None)
    >>> json.loads(JsonFormatter().format(record))["count"]
    3
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        document = {"time": time, "level": record.levelname.lower(), "logger": record.name, **_facts(record)}
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document, default=str)  # ASCII only, so control characters and other scripts are escaped


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """Return the event and its fields, or the message of a record without any."""
    template, event = str(record.msg), EVENT.match(str(record.msg))
    values = record.args if isinstance(record.args, tuple) else ()
    names = [name for name, _ in FIELD.findall(template)]
    if event is None or len(names) != len(values):
        return {"message": record.getMessage()}
    fields = {f"{name}_" if name in OWN else name: value for name, value in zip(names, values, strict=True)}
    return {"event": event[0], **fields}
