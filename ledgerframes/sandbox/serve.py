"""Serving a sandbox on a port, for clients outside the process."""

from __future__ import annotations

import logging

import waitress

from .sandbox import Sandbox

THREADS = 4


def serve(box: Sandbox, port: int, host: str = "127.0.0.1") -> None:
    """Serve a sandbox until the process ends.

    Parameters
    ----------
    box
        The sandbox.
    port
        TCP port.
    host
        Address to listen on; the default is reachable from this machine only.
    """
    make_server(box, port, host).run()


def make_server(box: Sandbox, port: int, host: str = "127.0.0.1") -> waitress.server.TcpWSGIServer:
    """Return a server that listens but does not run, on a free port if 0."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a busy client is no news
    # An OSError out of the app closes the socket without an answer, and is not worth a log line:
    # that is what a dropped connection looks like.
    return waitress.create_server(box.app, host=host, port=port, threads=THREADS, log_socket_errors=False)
