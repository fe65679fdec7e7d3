"""``wss``: certificates that a socket shows, and those that it believes."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

import sealwire
from conftest import Pairs, missing, securities
from sealwire import TlsIdentity, TlsTrust


class Certificate:
    """One that signs itself, for ``127.0.0.1`` or another host."""

    def __init__(self, folder: pathlib.Path, name: str, host: str = "IP:127.0.0.1") -> None:
        if shutil.which("openssl") is None:
            missing("there is no openssl to make a certificate with")
        chain, key = folder / f"{name}.pem", folder / f"{name}.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", str(key), "-out", str(chain), "-days", "2", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName={host}", "-addext", "basicConstraints=critical,CA:FALSE"],
            check=True,
            capture_output=True,
        )  # fmt: skip
        self.chain, self.key = chain.read_text(), key.read_text()

    def identity(self) -> TlsIdentity:
        return TlsIdentity(self.chain, self.key)

    def trust(self, **options: str) -> TlsTrust:
        return TlsTrust(self.chain.encode(), host_name=options.get("host_name"))


@pytest.mark.parametrize("mechanism", ["NULL", "BLAKE3", "CURVE"])
def test_messages_pass(pair: Pairs, tmp_path: pathlib.Path, mechanism: str) -> None:
    certificate = Certificate(tmp_path, "server")
    server_security, client_security = securities(mechanism)
    server = pair.socket(sealwire.REP, server_security, tls_identity=certificate.identity())
    client = pair.socket(sealwire.REQ, client_security)
    client.tls_trust = certificate.trust()
    assert client.tls_trust is not None and server.tls_identity is not None
    endpoint = server.bind("wss://127.0.0.1:0/path")
    client.connect(endpoint)
    client.send(b"x" * 100_000)
    request = server.recv_message()
    assert request.body == b"x" * 100_000
    server.send(b"over TLS")
    assert client.recv() == b"over TLS"


def test_a_certificate_that_is_not_trusted(pair: Pairs, tmp_path: pathlib.Path) -> None:
    server_of, other = Certificate(tmp_path, "server"), Certificate(tmp_path, "other")
    server = pair.socket(sealwire.PULL, tls_identity=server_of.identity())
    client = pair.socket(sealwire.PUSH, tls_trust=other.trust(), reconnect_ivl=1, linger=0)
    events = client.monitor()
    client.connect(server.bind("wss://127.0.0.1:0"))
    failed = next(event for event in events if event.kind == "failed")
    assert failed.reason == "TLS: the certificate is signed by no authority that is trusted here"
    assert failed.is_handshake_failure
    with pytest.raises(sealwire.HandshakeError, match="no authority that is trusted here"):
        client.wait_connected(timeout=1)


def test_a_certificate_for_another_host(pair: Pairs, tmp_path: pathlib.Path) -> None:
    certificate = Certificate(tmp_path, "server", "DNS:server.example")
    server = pair.socket(sealwire.PULL, tls_identity=certificate.identity())
    endpoint = server.bind("wss://127.0.0.1:0")
    client = pair.socket(sealwire.PUSH, tls_trust=certificate.trust(), reconnect_ivl=1)
    events = client.monitor()
    client.connect(endpoint)
    failed = next(event for event in events if event.kind == "failed")
    assert failed.reason is not None and "the certificate is for another host" in failed.reason
    named = pair.socket(sealwire.PUSH, tls_trust=certificate.trust(host_name="server.example"))
    named.connect(endpoint)
    named.send(b"to the right one")
    assert server.recv() == b"to the right one"


def test_what_a_wss_endpoint_needs(pair: Pairs, tmp_path: pathlib.Path) -> None:
    with pytest.raises(sealwire.EndpointError, match="certificate"):
        pair.socket(sealwire.PULL).bind("wss://127.0.0.1:0")
    with pytest.raises(sealwire.EndpointError, match="trust"):
        pair.socket(sealwire.PUSH).connect("wss://127.0.0.1:1")
    one, other = Certificate(tmp_path, "one"), Certificate(tmp_path, "other")
    for chain, key, why in [
        (one.chain, other.key, "does not belong"),
        ("no certificate", one.key, "no usable certificate"),
        (one.chain, "no key", "no usable private key"),
    ]:
        with pytest.raises(sealwire.TlsConfigError, match=why):
            TlsIdentity(chain, key)
    with pytest.raises(sealwire.TlsConfigError, match="no usable certificate"):
        TlsTrust("nobody")
    with pytest.raises(sealwire.TlsConfigError, match="neither a DNS name nor an IP address"):
        TlsTrust(one.chain, host_name="not a name")
    with pytest.raises(ValueError, match="trust somebody"):
        TlsTrust()
    assert issubclass(sealwire.TlsConfigError, sealwire.Error)
    with pytest.raises(TypeError, match="tls_trust takes a TlsTrust or None"):
        sealwire.Socket(sealwire.PULL, tls_trust=one.chain)
    with pytest.raises(TypeError, match="tls_identity takes a TlsIdentity or None"):
        sealwire.Socket(sealwire.PULL, tls_identity=one.trust())
    secret = one.key.splitlines()[1]
    assert secret not in repr(one.identity()) and "Identity" in repr(one.identity())
