# frozen_string_literal: true

require_relative "helper"
require "socket" # which is another Socket than that of omq
require "sealwire/omq"

class OmqTest < SealwireTest
  Crypto = OMQ::Blake3ZMQ::Crypto
  Blake3 = Protocol::ZMTP::Mechanism::Blake3

  def setup
    super
    @server_sk = Crypto::PrivateKey.generate
    @server_pk = @server_sk.public_key.to_s
    @client_sk = Crypto::PrivateKey.generate
    @client_pk = @client_sk.public_key.to_s
  end

  def omq(type, mechanism = nil)
    socket = OMQ.const_get(type).new
    socket.mechanism = mechanism if mechanism
    socket.linger = 0
    socket.read_timeout = socket.write_timeout = TIMEOUT
    @sockets << socket
    socket
  end

  def server(**options)
    Blake3.server(public_key: @server_pk, secret_key: @server_sk.to_s, **options)
  end

  def client(**options)
    Blake3.client(server_key: @server_pk, **options)
  end

  def own_keys
    { public_key: @client_pk, secret_key: @client_sk.to_s }
  end

  def test_a_request_under_the_names_of_omq
    rep = omq(:REP, server(authenticator: ->(peer) { peer.public_key.to_s == @client_pk }))
    uri = rep.bind("tcp://127.0.0.1:0")
    assert_equal ["tcp", "127.0.0.1"], [uri.scheme, uri.host]
    req = omq(:REQ, client(**own_keys))
    req.connect("tcp://127.0.0.1:#{uri.port}")
    req << "hello"
    message = rep.receive
    assert_equal ["hello"], message
    assert_predicate message, :frozen?
    assert_predicate message[0], :frozen?
    rep << message.map(&:upcase)
    assert_equal ["HELLO"], req.receive
    req.send(%w[two frames])
    assert_equal %w[two frames], rep.receive
  end

  def test_client_keys_are_optional
    pull = omq(:PULL, server)
    push = omq(:PUSH, client)
    push.connect(pull.bind("tcp://127.0.0.1:0").to_s)
    push << "anonymous"
    assert_equal ["anonymous"], pull.receive
  end

  def test_who_is_refused_does_not_get_through
    rep = omq(:REP, server(authenticator: ->(peer) { peer.public_key.to_s == @client_pk }))
    req = omq(:REQ, client)
    monitor = req.monitor
    req.connect(rep.bind("tcp://127.0.0.1:0").to_s)
    assert_equal :refused_by_peer, await(monitor, :failed).failure.cause
  end

  def test_endpoints_given_at_once
    name = "inproc://omq-#{object_id}"
    rep = OMQ::REP.new(name)
    req = OMQ::REQ.new(name)
    req << "hello"
    assert_equal ["hello"], rep.receive
    [rep, req].each(&:close)
    push, pull = OMQ::PUSH.bind("inproc://bound"), OMQ::PULL.connect("inproc://bound")
    push.send("work")
    assert_equal ["work"], pull.dequeue
    [push, pull].each(&:close)
    inside = nil
    OMQ::PAIR.new { |pair| inside = pair }
    assert_predicate inside, :closed?
  end

  def test_publish_and_subscribe
    publisher = omq(:XPUB, server)
    subscriber = omq(:SUB, client)
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0").to_s)
    subscriber.subscribe
    publisher.receive
    publisher << "news flash"
    assert_equal ["news flash"], subscriber.receive
  end

  def test_null_and_curve
    pull = omq(:PULL, Protocol::ZMTP::Mechanism::Null.new)
    push = omq(:PUSH, Protocol::ZMTP::Mechanism::Null.new)
    push.connect(pull.bind("tcp://127.0.0.1:0").to_s)
    push << "plain"
    assert_equal ["plain"], pull.receive
    curve = Protocol::ZMTP::Mechanism::Curve
    pull = omq(:PULL, curve.server(public_key: @server_pk, secret_key: @server_sk.to_s,
                                   authenticator: ->(peer) { peer.public_key.to_s == @client_pk }))
    push = omq(:PUSH, curve.client(server_key: @server_pk, **own_keys))
    push.connect(pull.bind("tcp://127.0.0.1:0").to_s)
    push << "sealed"
    assert_equal ["sealed"], pull.receive
  end

  def test_keys
    assert_equal 32, @server_pk.bytesize
    assert_equal @server_pk, Crypto::PrivateKey.new(@server_sk.to_s).public_key.to_s
    assert_equal Crypto::PublicKey.new(@server_pk), @server_sk.public_key
    refute_includes @server_sk.inspect.b, @server_sk.to_s
    assert_raises(ArgumentError) { Crypto::PublicKey.new("short") }
    assert_raises(ArgumentError) { server(public_key: @client_pk) }
    assert_raises(ArgumentError) { client(server_key: "short") }
    assert_raises(ArgumentError) { client(public_key: @client_pk) }
    assert_same ChaCha20Blake3::Cipher, Crypto::Cipher
  end
end
