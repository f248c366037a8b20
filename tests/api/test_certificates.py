"""Own authorities and client certificates, against a TLS server on loopback."""

from __future__ import annotations

import ipaddress
import ssl
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import ledgerframes as lf
from ledgerframes.errors import HostUnreachableError, TransportError, UsageError

pytestmark = pytest.mark.loopback
PASSWORD = serialization.BestAvailableEncryption(b"secret")


@dataclass(frozen=True)
class Files:
    """An authority, and certificates that it has signed."""

    ca: Path
    server: Path
    client: Path
    key: Path
    locked_key: Path


def certificate(name: str, key: Any, issuer: x509.Name, issuer_key: Any, *, is_ca: bool) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(named(name)).issuer_name(issuer).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(key_usage(is_ca=is_ca), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )  # fmt: skip


def key_usage(*, is_ca: bool) -> x509.KeyUsage:
    """What the key may do, without which Python 3.13 refuses an authority."""
    return x509.KeyUsage(
        digital_signature=True, key_cert_sign=is_ca, crl_sign=is_ca, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def key_bytes(key: Any, encryption: Any = None) -> bytes:
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    return bytes(key.private_bytes(*form, encryption or serialization.NoEncryption()))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("certificates")
    paths = Files(*(folder / f"{name}.pem" for name in ("ca", "server", "client", "key", "locked")))
    ca_key, server_key, client_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    issuer = named("authority")
    pem = serialization.Encoding.PEM
    paths.ca.write_bytes(certificate("authority", ca_key, issuer, ca_key, is_ca=True).public_bytes(pem))
    server = certificate("server", server_key, issuer, ca_key, is_ca=False).public_bytes(pem)
    paths.server.write_bytes(server + key_bytes(server_key))
    paths.client.write_bytes(certificate("client", client_key, issuer, ca_key, is_ca=False).public_bytes(pem))
    paths.key.write_bytes(key_bytes(client_key))
    paths.key.chmod(0o600)
    paths.locked_key.write_bytes(key_bytes(client_key, PASSWORD))
    paths.locked_key.chmod(0o600)
    return paths


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"version": "3.5.14"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Handshakes that fail are what is tested."""


def serve(files: Files, *, asks_client: bool) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.server)
    if asks_client:
        context.load_verify_locations(files.ca)
        context.verify_mode = ssl.CERT_REQUIRED
    server = Server(("127.0.0.1", 0), Handler)
    # The handshake happens when a thread reads, so that a failing one does not end the loop that accepts.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def url(files: Files) -> Iterator[str]:
    yield from serve(files, asks_client=False)


@pytest.fixture(scope="module")
def strict_url(files: Files) -> Iterator[str]:
    yield from serve(files, asks_client=True)


def version(url: str, **settings: Any) -> str:
    with lf.connect("sandbox", ledger_url=url, retries=0, requests_per_second=0, timeout=20, **settings) as net:
        return net.ledger.version().version


def test_an_own_authority_is_trusted(url: str, files: Files) -> None:
    assert version(url, ca_file=files.ca) == "3.5.14"


def test_the_files_may_be_in_a_profile(url: str, files: Files) -> None:
    Path("ledgerframes.toml").write_text(f"[mine]\nledger_url = '{url}'\nca_file = '{files.ca}'\n")
    with lf.connect("mine") as net:
        assert net.ledger.version().version == "3.5.14"


def test_another_authority_is_not_trusted(url: str) -> None:
    with pytest.raises(HostUnreachableError, match=r"(?i)certificate"):
        version(url)


@pytest.mark.parametrize("is_one_file", [False, True])
def test_a_client_certificate_is_sent(strict_url: str, files: Files, tmp_path: Path, is_one_file: bool) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(files.client.read_bytes() + files.key.read_bytes())
    pair = {"client_cert_file": both} if is_one_file else {"client_cert_file": files.client, "client_key_file": files.key}
    assert version(strict_url, ca_file=files.ca, **pair) == "3.5.14"


def test_a_host_that_wants_a_client_certificate_refuses_others(strict_url: str, files: Files) -> None:
    with pytest.raises(TransportError):
        version(strict_url, ca_file=files.ca)


def test_files_that_cannot_be_used_are_named(url: str, files: Files, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    with pytest.raises(UsageError, match=r"Cannot read ca_file .*wrong\.pem"):
        version(url, ca_file=wrong)
    with pytest.raises(UsageError, match=r"Cannot read ca_file .*missing\.pem"):
        version(url, ca_file=tmp_path / "missing.pem")
    with pytest.raises(UsageError, match=r"Cannot read client_cert_file .* has no password"):
        version(url, ca_file=files.ca, client_cert_file=files.client, client_key_file=files.locked_key)
    with pytest.raises(UsageError, match="client_key_file= needs client_cert_file="):
        version(url, client_key_file=files.key)


@pytest.mark.parametrize(("mode", "is_exposed"), [(0o600, False), (0o644, True)])
def test_a_key_that_others_can_read_is_warned_about(
    mode: int, is_exposed: bool, url: str, files: Files, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    warnings.simplefilter("always")
    key = tmp_path / "key.pem"
    key.write_bytes(files.key.read_bytes())
    key.chmod(mode)
    assert version(url, ca_file=files.ca, client_cert_file=files.client, client_key_file=key) == "3.5.14"
    told = [str(each.message) for each in recwarn if "client_key_file" in str(each.message)]
    assert told == ([f"Other users of this machine can read client_key_file {key}. Run: chmod 600 {key}"] if is_exposed else [])
