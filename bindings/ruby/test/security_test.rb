# frozen_string_literal: true

require_relative "helper"
require "tmpdir"
require "pathname"

class SecurityTest < SealwireTest
  def setup
    super
    @server_keys = Sealwire::KeyPair.generate
    @alice = Sealwire::KeyPair.generate
  end

  def blake3_client(keys: @alice, server_key: @server_keys.public_key)
    Sealwire::Security.blake3_client(server_key: server_key, keys: keys)
  end

  # A REP under this security and a REQ that connects to it.
  def pair(security, client: blake3_client)
    server, client = socket(:REP, security: security), socket(:REQ, security: client)
    client_monitor = client.monitor
    client.connect(server.bind("tcp://127.0.0.1:0"))
    [server, client, client_monitor]
  end

  def served(security, client: blake3_client)
    server, client, = pair(security, client: client)
    client << "hello"
    request = server.receive
    server << "welcome"
    client.receive
    request.peer
  end

  def server(allow = nil, &block)
    Sealwire::Security.blake3_server(keys: @server_keys, allow: allow, &block)
  end

  def test_who_is_allowed
    key = @alice.public_key
    assert_nil served(server(:anyone)).user_id
    assert_nil served(server(:anyone), client: blake3_client(keys: nil)).user_id
    assert_equal key, served(server([key])).public_key
    assert_equal "alice", served(server({ key.to_s => "alice" })).user_id
    assert_equal "alice", served(server { |client| client.public_key == key && "alice" }).user_id
    assert_nil served(server(->(_client) { true })).user_id
  end

  def test_a_file_of_allowed_keys
    Dir.mktmpdir do |folder|
      @alice.write(File.join(folder, "alice"))
      assert_equal "alice", served(server(Pathname(folder))).user_id
      assert_raises(Sealwire::KeyFileError) { server(Pathname(File.join(folder, "none"))) }
    end
  end

  def test_a_refused_client_hears_why
    reasons = {
      "this key is not allowed here" => [@server_keys.public_key],
      "this client is not allowed here" => ->(_client) {},
      "come back on Monday" => ->(_client) { Sealwire::Refusal.new("come back on Monday") }
    }
    reasons.each do |reason, allow|
      _server, client, monitor = pair(server(allow))
      failure = await(monitor, :failed).failure
      assert_equal :refused_by_peer, failure.cause
      assert_includes failure.reason, reason
      client << "hello"
      assert_predicate failure, :handshake_failure?
      error = assert_raises(Sealwire::TimeoutError) { client.receive(timeout: 0.01) }
      assert_instance_of Sealwire::HandshakeError, error
      assert_includes error.message, reason
      assert_equal :refused_by_peer, error.failure.cause
    end
  end

  def test_an_exception_refuses_and_is_told_here_alone
    _, told = capture_io do
      _server, _client, monitor = pair(server { |_client| raise ArgumentError, "the database is down" })
      reason = await(monitor, :failed).reason
      assert_includes reason, "the server could not decide"
      refute_includes reason, "database"
    end
    assert_match(/an authenticator raised ArgumentError: the database is down; client refused/, told)
  end

  def test_what_the_callback_sees
    seen = Queue.new
    security = server do |client|
      seen << client
      true
    end
    server, client = socket(:ROUTER, security: security), socket(:DEALER, security: blake3_client, routing_id: "me")
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client << "hello"
    server.receive
    client = seen.pop
    assert_equal [@alice.public_key, "DEALER", "me"], [client.public_key, client.socket_type, client.routing_id]
    assert_match(/\Atcp:\/\/127\.0\.0\.1:\d+\z/, client.address)
    assert_nil client.username
    assert_nil client.process
  end

  def test_the_callback_is_told_the_process
    expected = RUBY_PLATFORM.include?("linux") ? [[Process.pid, Process.uid, Process.gid]] : [nil]
    %i[blake3 curve].each do |mechanism|
      seen = Queue.new
      security = Sealwire::Security.public_send(:"#{mechanism}_server", keys: @server_keys) do |client|
        seen << client
        true
      end
      client_security = Sealwire::Security.public_send(
        :"#{mechanism}_client", server_key: @server_keys.public_key, keys: @alice
      )
      Dir.mktmpdir do |folder|
        server, client = socket(:PULL, security: security), socket(:PUSH, security: client_security)
        client.connect(server.bind("ipc://#{folder}/asked"))
        client << "hello"
        assert_equal "hello", server.receive.to_s
      end
      client = seen.pop
      assert_equal expected, [client.process]
      assert client.address.start_with?("ipc://"), client.address
    end
  end

  def test_callbacks_run_while_the_main_thread_waits
    # The thread that waits for a message has let go of the interpreter, or nobody could decide.
    main = Thread.current
    security = server { |_client| Thread.current != main }
    server, client, = pair(security)
    Thread.new { client << "hello" }
    assert_equal "hello", server.receive.to_s
  end

  def test_callbacks_may_use_sockets_with_callbacks
    inner = server { |_client| "inner" }
    outer = server { |_client| served(inner).user_id + " and outer" }
    assert_equal "inner and outer", served(outer).user_id
  end

  def test_many_clients_are_decided_about
    security = server { |client| client.public_key.to_s }
    router = socket(:ROUTER, security: security)
    endpoint = router.bind("tcp://127.0.0.1:0")
    keys = Array.new(20) { Sealwire::KeyPair.generate }
    keys.each { |own| socket(:DEALER, security: blake3_client(keys: own)).connect(endpoint) << "hello" }
    names = Array.new(20) { router.receive.peer.user_id }
    assert_equal keys.map { |own| own.public_key.to_s }.sort, names.sort
  end

  def test_a_callback_is_forgotten_with_its_server
    reception = Sealwire::Reception.current
    callbacks = reception.instance_variable_get(:@callbacks)
    server { |_client| true }
    before = callbacks.size
    assert_operator before, :>=, 1
    # The thread of the callbacks is told later which objects were collected. The collector
    # may take a word on the stack for a reference, so one of many may stay.
    10.times { server { |_client| true } }
    GC.start
    served(server(:anyone))
    Timeout.timeout(TIMEOUT) do
      until callbacks.size < before + 10
        GC.start
        Thread.pass
      end
    end
  end

  def test_curve
    security = Sealwire::Security.curve_server(keys: @server_keys) { |client| client.public_key == @alice.public_key && "alice" }
    client = Sealwire::Security.curve_client(server_key: @server_keys.public_key, keys: @alice)
    assert_equal "alice", served(security, client: client).user_id
    stranger = Sealwire::Security.curve_client(server_key: @server_keys.public_key, keys: Sealwire::KeyPair.generate)
    _server, _client, monitor = pair(security, client: stranger)
    assert_match(/400/, await(monitor, :failed).reason)
  end

  def test_plain
    passwords = Sealwire::Security.plain_server(allow: { "alice" => "secret" })
    alice = Sealwire::Security.plain_client(username: "alice", password: "secret")
    assert_equal "alice", served(passwords, client: alice).user_id
    asked = Sealwire::Security.plain_server { |client| client.password == "secret" && client.username }
    assert_equal "alice", served(asked, client: alice).user_id
    mallory = Sealwire::Security.plain_client(username: "alice", password: "guess")
    [passwords, asked].each do |security|
      _server, _client, monitor = pair(security, client: mallory)
      assert_match(/400/, await(monitor, :failed).reason)
    end
  end

  def test_a_wrong_server_key_and_another_mechanism_are_named
    wrong = blake3_client(server_key: Sealwire::KeyPair.generate.public_key)
    _server, _client, monitor = pair(server(:anyone), client: wrong)
    assert_match(/key is probably not the one configured/, await(monitor, :failed).reason)
    _server, _client, monitor = pair(server(:anyone), client: Sealwire::Security.plain_text)
    assert_equal :incompatible, await(monitor, :failed).failure.cause
  end

  def test_a_server_with_two_keys
    older = Sealwire::KeyPair.generate
    security = server(:anyone).with_additional_keys(older)
    served(security, client: blake3_client(server_key: older.public_key))
    served(security)
  end

  def test_plain_text_leaves_the_machine_by_name_only
    silent = socket(:PULL)
    assert_nil silent.security
    ["tcp://*:0", "tcp://0.0.0.0:0", "tcp://[::]:0", "ws://*:0/", "tcp://a.invalid:0"].each do |endpoint|
      error = assert_raises(Sealwire::NoSecurityError) { silent.bind(endpoint) }
      assert_kind_of Sealwire::EndpointError, error
      assert_match(/leaves this machine.*blake3_server.*plain_text/, error.message)
    end
    assert_raises(Sealwire::NoSecurityError) { silent.connect("tcp://192.0.2.1:9") }
    silent.bind("tcp://127.0.0.1:0")
    silent.connect("inproc://plain-text")
    named = socket(:PULL, security: Sealwire::Security.plain_text)
    assert_equal "NULL", named.security.mechanism
    named.bind("tcp://*:0")
    named.connect("tcp://192.0.2.1:9")
  end

  def test_options_of_another_mechanism_are_refused_by_name
    keys = Sealwire::KeyPair.generate
    curve = Sealwire::Security.curve_server(keys: keys, allow: :anyone)
    client = blake3_client(server_key: keys.public_key)
    [[curve, "CURVE"], [Sealwire::Security.plain_text, "NULL"], [client, "a BLAKE3 client"]].each do |security, name|
      error = assert_raises(Sealwire::UnsupportedError) { security.with_additional_keys(keys) }
      assert_equal "with_additional_keys belongs to a BLAKE3 server, and this is #{name}", error.message
    end
    error = assert_raises(Sealwire::UnsupportedError) { curve.with_continuous_keystream_unauthenticated_order }
    assert_match(/belongs to BLAKE3, and this is CURVE/, error.message)
    client.with_continuous_keystream_unauthenticated_order
    server(:anyone).with_continuous_keystream_unauthenticated_order
  end

  def test_zap
    handler = socket(:REP)
    handler.bind("inproc://zeromq.zap.01")
    zap = Thread.new do
      version, id, = handler.receive.frames
      handler << [version, id, "200", "OK", "from zap", ""]
    end
    server = socket(:REP, zap_domain: "test")
    client = socket(:REQ)
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client << "hello"
    assert_equal "from zap", server.receive.peer.user_id
    zap.join
  ensure
    handler.close
  end

  def test_what_a_server_is_told_about_its_clients
    assert_raises(ArgumentError) { server }
    assert_raises(ArgumentError) { server(:anyone) { true } }
    assert_raises(ArgumentError) { server("anyone") }
    assert_raises(ArgumentError) { server(["no key"]) }
    assert_raises(ArgumentError) { Sealwire::Security.plain_server(allow: [@alice.public_key]) }
    assert_raises(TypeError) { Sealwire::Security.blake3_server(keys: "keys", allow: :anyone) }
    assert_raises(NoMethodError, TypeError) { Sealwire::Security.new }
  end

  def test_no_secret_is_shown
    securities = [server(:anyone), blake3_client, Sealwire::Security.plain_client(username: "a", password: "hush-hush")]
    shown = securities.map(&:inspect).join
    [@server_keys, @alice].each { |keys| refute_includes shown, keys.secret_key.to_z85 }
    refute_includes shown, "hush-hush"
  end

  def test_a_server_changes_its_key_while_clients_are_there
    [false, true].each do |keeps|
      old, new = Array.new(2) { Sealwire::KeyPair.generate }
      server_of = ->(keys) { Sealwire::Security.blake3_server(keys: keys, allow: :anyone) }
      server = socket(:REP, security: server_of.(old))
      endpoint = server.bind("tcp://127.0.0.1:*")
      client = lambda do |keys|
        socket(:REQ, security: Sealwire::Security.blake3_client(server_key: keys.public_key)).connect(endpoint)
      end
      echo = lambda do |asking|
        asking.send("hello")
        server.send(server.receive)
        assert_equal "hello", asking.receive.to_s
      end
      before = client.(old)
      echo.(before)
      server.security = server_of.(old).with_additional_keys(new)
      server.reconfigure_endpoint(endpoint)
      echo.(before)
      after = client.(new)
      echo.(after)
      events = server.monitor
      server.security = server_of.(new)
      server.reconfigure_endpoint(endpoint, keep_withdrawn: keeps)
      echo.(after)
      keeps ? echo.(before) : assert(events.any? { |event| event.failure&.cause == :key_withdrawn })
    end
    assert_raises(Sealwire::Error) { socket(:PULL).reconfigure_endpoint("tcp://127.0.0.1:1") }
  end
end
