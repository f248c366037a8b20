"""The token in nothing that a run leaves or says, and certificates of one's own."""

from __future__ import annotations

import base64
import ipaddress
import json
import logging
import os
import pickle
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import httpx
import psutil
import pytest
from servers import served

import ledgerframes as lf
from ledgerframes.errors import HostUnreachableError, LedgerframesError
from ledgerframes.report import run_report
from ledgerframes.sandbox import Faults, Sandbox

pytestmark = pytest.mark.loopback
WORLD = {"events": 300, "days": 1}
WINDOW = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T12:00:00Z"}


def profile(port: int, token: str, scheme: str = "http", **settings: object) -> None:
    url = f"{scheme}://127.0.0.1:{port}"
    values = {
        "history_url": url, "ledger_url": f"{url}/api/ledger", "wallet_url": f"{url}/api/validator", "token_file": "token",
        "requests_per_second": 0, "retries": 0, "store": "store", **settings,
    }  # fmt: skip
    Path("token").write_text(token)
    Path("token").chmod(0o600)
    Path("ledgerframes.toml").write_text(
        "[local]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
    )


def spellings(token: str) -> list[bytes]:
    """The token as it could be hidden in a file."""
    plain = token.encode()
    return [
        plain,
        base64.b64encode(plain)[:-4],
        plain.hex().encode(),
        plain[::-1],
        token.encode("utf-16-le"),
        plain[len(plain) // 2 :],
    ]


def said_by(net: lf.Network) -> str:
    """What the error of a network that refuses says in every way."""
    with pytest.raises(LedgerframesError) as caught:
        lf.load_parties(net)
    error = caught.value
    return "".join([repr(error), str(error), repr(vars(error)), *traceback.format_exception(error)])


def test_the_token_is_in_nothing_that_a_run_leaves_or_says(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    box = Sandbox(**WORLD, require_token=True, faults=Faults(retry_after=1, too_many_requests=0.05, seed=2))
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    with served(box) as port:
        profile(port, box.token, retries=3)
        with lf.connect("local") as net:
            frames = lf.load_events(net, **WINDOW)
            updates = lf.load_updates(net)
            net.wallet.offer_transfer(
                receiver="bob::1220bb",
                amount=Decimal(1),
                description="x",
                expires_at=datetime(2100, 1, 1, tzinfo=UTC),
                tracking_id="t-1",
            )
            lf.load_transfer_offers(net)
            lf.save_frames(frames, tmp_path / "saved")
            result = run_report("verdicts", net=net, out=tmp_path / "reports", **WINDOW)
            assert result.page_path.exists()
            for thing in (
                net,
                net.settings,
                net.store,
                net.wallet,
                net.ledger,
                net.history,
                net.ledger.transport,
                frames,
                updates,
                result,
            ):
                said += [repr(thing), str(thing), repr(getattr(thing, "__dict__", ""))]
                said.append(getattr(thing, "_repr_html_", str)())
            said += [repr(pickle.dumps(each)) for each in (net.settings, net)]
        for wrong in (
            {"token": box.expired_token},
            {"ledger_url": f"http://127.0.0.1:{port}/nothing"},
            {"ledger_url": "http://127.0.0.1:1/"},
        ):
            with lf.connect("local", **wrong) as net:
                said.append(said_by(net))
        assert "AuthenticationError" in said[-3]
        environment = {**os.environ, "LEDGERFRAMES_TOKEN": box.token, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-m", "ledgerframes", "--profile", "local", "sync", "updates", "--shape", "ledger_effects"]
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = 0
        while process.poll() is None:
            for each in [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]:
                try:
                    said.append(" ".join(each.cmdline()))
                except psutil.Error:
                    continue
                lines += 1
            time.sleep(0.05)
        assert process.returncode == 0 and lines
        said.append(process.communicate()[0])
    said += [*capfd.readouterr(), *(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)]
    assert len(caplog.records) > 50, "the logs of httpx are among them"
    for spelling in [*spellings(box.token), box.expired_token.encode()]:
        for text in said:
            assert spelling not in text.encode("utf-8", "replace"), text[:300]
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "token"]
    assert {".parquet", ".html", ".json", ".csv", ".sqlite"} <= {path.suffix for path in files}
    for spelling in spellings(box.token):
        assert not [path for path in files if spelling in path.read_bytes()]


# -- certificates -----------------------------------------------------------------------------------------------------


def certificates(folder: Path) -> None:
    """A CA, and what it signed for a server on loopback and for a client."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.now(UTC)

    def write(name: str, issuer: tuple[object, object] | None) -> tuple[object, object]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = x509.CertificateBuilder(
            issuer_name=issuer[0].subject if issuer else subject,
            subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=1),
            not_valid_after=now + timedelta(days=1),
        )
        builder = builder.add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        signer = issuer[1] if issuer else key
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())  # type: ignore[attr-defined]
        builder = builder.add_extension(authority, critical=False)
        if issuer is None:
            usage = dict.fromkeys(
                (
                    "content_commitment",
                    "key_encipherment",
                    "data_encipherment",
                    "key_agreement",
                    "encipher_only",
                    "decipher_only",
                ),
                False,
            )
            usage |= {"digital_signature": True, "key_cert_sign": True, "crl_sign": True}
            builder = builder.add_extension(x509.KeyUsage(**usage), critical=True)
        else:
            address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
            builder = builder.add_extension(address, critical=False)
        certificate = builder.sign(signer, hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / f"{name}.key").write_bytes(key.private_bytes(*plain))
        return certificate, key

    authority = write("ca", None)
    write("server", authority)
    write("client", authority)
    write("stranger", None)


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that is refused is no news."""


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """A sandbox behind TLS, which demands certificates of clients if the environment says so."""
    certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED if "required" in os.environ.get("CLIENTS", "") else ssl.CERT_NONE
    server = make_server("127.0.0.1", 0, Sandbox(**WORLD, require_token=True).app, Threaded, Quiet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def clients_need_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENTS", "required")


def test_a_ca_of_one_s_own(tls_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(tls_port, Sandbox(**WORLD).token, "https")
    with lf.connect("local", store=tmp_path / "unknown") as net, pytest.raises(HostUnreachableError, match="certificate"):
        lf.load_parties(net)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with lf.connect("local") as net:
        assert len(lf.load_parties(net)) > 10
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "stranger.pem"))
    with lf.connect("local") as net, pytest.raises(HostUnreachableError, match="certificate"):
        lf.load_parties(net)


@pytest.mark.usefixtures("clients_need_certificates")
def test_a_client_s_certificate(tls_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(tls_port, Sandbox(**WORLD).token, "https")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with lf.connect("local") as net, pytest.raises(HostUnreachableError):
        lf.load_parties(net)
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    context.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")
    with lf.connect("local", transport=httpx.HTTPTransport(verify=context)) as net:
        assert len(lf.load_parties(net)) > 10
