"""Certificates of HTTPS connections, with a profile's authorities and client certificate."""

from __future__ import annotations

import functools
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.settings import Settings

__all__ = ["CertificateFiles", "ssl_context"]

ENVIRONMENT = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class CertificateFiles(NamedTuple):
    """The files of a profile, in PEM."""

    ca_file: str | None = None  # authorities to trust instead of those of the environment, or the public ones
    client_cert_file: str | None = None
    client_key_file: str | None = None  # if the key is not in the file of the certificate

    @classmethod
    def of(cls, settings: Settings) -> CertificateFiles:
        """Return the files that settings name."""
        paths = (settings.ca_file, settings.client_cert_file, settings.client_key_file)
        return cls(*(str(path) if path else None for path in paths))


def ssl_context(default: Callable[[], ssl.SSLContext], files: CertificateFiles) -> ssl.SSLContext:
    """Return the certificates of a profile, or those of the environment.

    The function `default` returns those of the environment.
    """
    return _cached_context(default, files, *map(os.environ.get, ENVIRONMENT))


@functools.cache
def _cached_context(
    default: Callable[[], ssl.SSLContext], files: CertificateFiles, env_file: str | None, env_directory: str | None
) -> ssl.SSLContext:
    """Return a context, cached because loading certificates is slower than a request."""
    if files.ca_file:
        with _usage_errors(f"ca_file {files.ca_file}", "Set it to a PEM file of certificate authorities."):
            context = ssl.create_default_context(cafile=files.ca_file)
    else:
        with _usage_errors("the certificates of this environment", f"Check {' and '.join(ENVIRONMENT)}."):
            if env_directory and not env_file and not any(map(os.path.isdir, env_directory.split(os.pathsep))):
                # OpenSSL would trust nobody and fail at each request.
                raise NotADirectoryError(f"{env_directory} is not a directory")
            context = default()
    if files.client_cert_file:
        step = "Set client_cert_file and client_key_file to PEM files, with a key that has no password."
        with _usage_errors(f"client_cert_file {files.client_cert_file}", step):
            # Without a password here, OpenSSL would wait for one on the terminal.
            context.load_cert_chain(files.client_cert_file, files.client_key_file, password="")
    return context


@contextmanager
def _usage_errors(what: str, step: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # an ssl.SSLError is an OSError
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"Cannot read {what}: {reason}. {step}") from error
