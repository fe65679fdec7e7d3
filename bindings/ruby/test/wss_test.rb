# frozen_string_literal: true

require_relative "helper"
require "openssl"

# `wss`: certificates that a socket shows, and those that it believes.
class WssTest < SealwireTest
  # One that signs itself: its PEM and that of its key.
  def certificate(host = "IP:127.0.0.1")
    key = OpenSSL::PKey::EC.generate("prime256v1")
    made = OpenSSL::X509::Certificate.new
    made.version = 2
    made.serial = 1
    made.subject = made.issuer = OpenSSL::X509::Name.parse("/CN=#{key.public_key.to_bn.to_s(16)[0, 16]}")
    made.public_key = key
    made.not_before = Time.now - 3600
    made.not_after = Time.now + 86_400
    extensions = OpenSSL::X509::ExtensionFactory.new(made, made)
    made.add_extension(extensions.create_extension("subjectAltName", host))
    made.sign(key, "SHA256")
    [made.to_pem, key.to_pem]
  end

  %i[null blake3 curve].each do |mechanism|
    define_method(:"test_messages_pass_with_#{mechanism}") do
      chain, key = certificate
      server_security, client_security = securities(mechanism)
      server = socket(:REP, security: server_security, tls_identity: Sealwire::TlsIdentity.new(chain, key))
      client = socket(:REQ, security: client_security)
      client.tls_trust = Sealwire::TlsTrust.new(chain)
      assert_kind_of Sealwire::TlsTrust, client.tls_trust
      assert_kind_of Sealwire::TlsIdentity, server.tls_identity
      client.connect(server.bind("wss://127.0.0.1:0/path"))
      client << "x" * 100_000
      assert_equal "x" * 100_000, server.receive.to_s
      server << "over TLS"
      assert_equal "over TLS", client.receive.to_s
    end
  end

  def test_a_certificate_that_is_not_trusted
    chain, key = certificate
    other, = certificate
    server = socket(:PULL, tls_identity: Sealwire::TlsIdentity.new(chain, key))
    client = socket(:PUSH, tls_trust: Sealwire::TlsTrust.new(other), reconnect_interval: 0.001)
    Sealwire.logger = Object.new.tap { |logger| def logger.warn(_text) = nil }
    monitor = client.monitor
    client.connect(server.bind("wss://127.0.0.1:0"))
    failure = await(monitor, :failed).failure
    assert_equal [:tls, "TLS: the certificate is signed by no authority that is trusted here"], [failure.cause, failure.reason]
    error = assert_raises(Sealwire::TimeoutError) { client.wait_connected(1, timeout: 0.01) }
    assert_equal :tls, error.failure.cause
  ensure
    Sealwire.logger = nil
  end

  def test_a_certificate_for_another_host
    chain, key = certificate("DNS:server.example")
    server = socket(:PULL, tls_identity: Sealwire::TlsIdentity.new(chain, key))
    endpoint = server.bind("wss://127.0.0.1:0")
    client = socket(:PUSH, tls_trust: Sealwire::TlsTrust.new(chain), reconnect_interval: 0.001)
    monitor = client.monitor
    client.connect(endpoint)
    assert_match(/the certificate is for another host/, await(monitor, :failed).failure.reason)
    named = socket(:PUSH, tls_trust: Sealwire::TlsTrust.new(chain, host_name: "server.example"))
    named.connect(endpoint)
    named << "to the right one"
    assert_equal "to the right one", server.receive.to_s
  end

  def test_what_a_wss_endpoint_needs
    assert_match(/certificate/, assert_raises(Sealwire::EndpointError) { socket(:PULL).bind("wss://127.0.0.1:0") }.message)
    assert_match(/trust/, assert_raises(Sealwire::EndpointError) { socket(:PUSH).connect("wss://127.0.0.1:1") }.message)
    (chain, key), (_, other) = certificate, certificate
    {
      [chain, other] => /does not belong/, ["no certificate", key] => /no usable certificate/, [chain, "no key"] => /no usable private key/
    }.each do |parts, why|
      assert_match(why, assert_raises(Sealwire::TlsConfigError) { Sealwire::TlsIdentity.new(*parts) }.message)
    end
    assert_raises(Sealwire::TlsConfigError) { Sealwire::TlsTrust.new("nobody") }
    assert_raises(Sealwire::TlsConfigError) { Sealwire::TlsTrust.new(chain, host_name: "not a name") }
    assert_match(/trust somebody/, assert_raises(ArgumentError) { Sealwire::TlsTrust.new }.message)
    assert_raises(TypeError) { Sealwire::PULL.new(tls_trust: chain) }
    assert_raises(TypeError) { Sealwire::PULL.new(tls_identity: Sealwire::TlsTrust.new(chain)) }
    identity = Sealwire::TlsIdentity.new(chain, key)
    assert_equal "#<Sealwire::TlsIdentity>", identity.inspect
    assert Ractor.shareable?(identity)
  end
end
