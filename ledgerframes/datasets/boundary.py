"""The boundary of decoding, where every body becomes rows or a `DecodeError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pyarrow as pa

from ledgerframes.errors import DecodeError
from ledgerframes.texts.representation import capitalize

# What msgspec, Arrow and Python raise for bytes that no column can contain. Errors of the program, such as a wrong name, are
# not among them.
DATA_ERRORS = (
    msgspec.DecodeError, UnicodeError, RecursionError, OverflowError, ValueError, TypeError, LookupError, pa.ArrowException,
)  # fmt: skip
CHECK_VERSION = "Run `ledgerframes doctor` to check the service's version."


@contextmanager
def decode_boundary(endpoint: str = "", *, update_id: str = "") -> Iterator[None]:
    """Raise every error in a body as a `DecodeError`, with all known facts."""
    try:
        yield
    except DecodeError as error:
        name_endpoint(error, endpoint)
        error.update_id = error.update_id or update_id
        raise
    except DATA_ERRORS as error:
        raise decode_error(error, endpoint, update_id=update_id) from error


def name_endpoint(error: DecodeError, endpoint: str) -> None:
    """Add the operation or the file, and the next step, to an error that does not name it."""
    if error.endpoint or not endpoint:
        return
    reason = str(error).removeprefix("Unexpected response: ").removesuffix(f" {CHECK_VERSION}")
    error.args = (f"Unexpected response from {endpoint}: {reason} {CHECK_VERSION}",)
    error.endpoint = endpoint


def decode_error(error: Exception, endpoint: str, *, line: int = 0, body: bytes = b"", update_id: str = "") -> DecodeError:
    """Return the `DecodeError` for what decoding raised, one of `DATA_ERRORS`.

    `endpoint` is the operation or the file, `line` the number of a line in it, from 1. The start of a body that is not JSON is
    shown.
    """
    json_path = "$"
    source = f"line {line} of {endpoint}" if line else f"response from {endpoint}" if endpoint else "response"
    if isinstance(error, msgspec.ValidationError):
        reason, json_path = describe_error(error)
        message = f"Unexpected {source}: {reason} at {json_path}. {CHECK_VERSION}"
    elif isinstance(error, RecursionError):
        message = f"Unexpected {source}: it is nested deeper than can be decoded. {CHECK_VERSION}"
    elif isinstance(error, msgspec.DecodeError | UnicodeError):
        start = bytes(body[:60]).decode("utf-8", "replace")
        step = "Fetch it again." if line else "Check that the URL is the API's own."
        subject = capitalize(source) if line else f"The {source}"
        message = f"{subject} is not JSON ({error}) and starts with {start!r}. {step}"
    else:
        reason = (
            "a number is larger than the API allows"
            if isinstance(error, OverflowError | pa.ArrowInvalid)
            else type(error).__name__
        )
        message = f"Unexpected {source}: {reason} ({' '.join(str(error).split())[:200]}). {CHECK_VERSION}"
    return DecodeError(message, endpoint=endpoint, json_path=json_path, update_id=update_id)


def describe_error(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return what msgspec reports, and its JSON path."""
    reason, _, path = str(error).partition(" - at `")
    return reason[:1].lower() + reason[1:], path.rstrip("`") or "$"
