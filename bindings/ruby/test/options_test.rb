# frozen_string_literal: true

require_relative "helper"
require "socket"

class OptionsTest < SealwireTest
  VALUES = {
    send_hwm: 5, recv_hwm: 6, linger: 0.25, max_message_size: 1000, routing_id: "name", immediate: true,
    handshake_timeout: 3.0, reconnect_interval: 0.5, heartbeat_interval: 1.0, metadata: { "X-Name" => "value" },
    router_notify: [:connect], reconnect_stop: %i[connection_refused], connection_rate_per_address: [5, 1.0],
    tcp_keepalive: true, tcp_keepalive_idle: 60.0, backlog: 10, ipc_mode: 0o660, type_of_service: 40, hello_message: ["hello"],
    socks_proxy: "127.0.0.1:1080"
  }.freeze

  def test_options_are_read_back
    router = Sealwire::ROUTER.new(**VALUES)
    VALUES.each { |name, value| assert_equal value, router.public_send(name) }
    assert_nil router.spin
    router.bind("tcp://127.0.0.1:0")
    router.close
  end

  def test_every_option_has_a_reader_and_a_writer
    Sealwire::Socket::OPTIONS.each do |name|
      pull = Sealwire::PULL.new
      assert_nil pull.public_send(name), name
      pull.public_send(:"#{name}=", nil)
    end
  end

  def test_options_change_at_any_time_but_those_that_threads_go_by
    pull = socket(:PULL, recv_timeout: 5, conflate: true)
    assert_equal 5.0, pull.recv_timeout
    pull.bind("tcp://127.0.0.1:0")
    pull.recv_timeout = nil
    assert_nil pull.recv_timeout
    pull.conflate = false
    assert_equal false, pull.conflate
    error = assert_raises(Sealwire::OptionError) { pull.spin = 0.001 }
    assert_match(/option spin stays as the socket was made/, error.message)
    assert_nil pull.spin
    error = assert_raises(Sealwire::OptionError) { pull.xpub_verbose = true }
    assert_match(/PULL socket has no option xpub_verbose/, error.message)
    pull.linger = 1
    assert_equal 1.0, pull.linger
    pull.security = Sealwire::Security.plain_text
  end

  def test_each_endpoint_has_the_keys_that_it_was_connected_with
    client = socket(:DEALER)
    servers = Array.new(2) do
      keys = Sealwire::KeyPair.generate
      server = socket(:REP, security: Sealwire::Security.blake3_server(keys: keys, allow: :anyone))
      client.security = Sealwire::Security.blake3_client(server_key: keys.public_key)
      client.connect(server.bind("tcp://127.0.0.1:0"))
      server
    end
    client.wait_connected(2)
    assert_equal 2, servers.size
  end

  def test_a_queue_grows_and_closing_is_cut_short_on_a_socket_in_use
    push = Sealwire::PUSH.new(send_hwm: 1, linger: 1e9)
    push.connect("tcp://127.0.0.1:1")
    assert push.try_send("x")
    refute push.try_send("x")
    push.send_hwm = 2
    assert push.try_send("x")
    # Without this, closing would last for decades.
    push.linger = 0
    assert_raises(Sealwire::UnsentError) { push.close }
  end

  def test_time_limits_change_on_a_socket_in_use
    # Without the change, each call would wait for a minute.
    pull, push = socket(:PULL), socket(:PUSH)
    pull.bind("inproc://ruby-live-limits")
    push.connect("inproc://ruby-live-limits")
    push << "x"
    assert_equal "x", pull.receive.to_s
    pull.recv_timeout = 0.001
    assert_includes assert_raises(Sealwire::TimeoutError) { pull.receive }.message, "1ms"
    push.disconnect("inproc://ruby-live-limits")
    push.send_timeout = 0.002
    assert_includes assert_raises(Sealwire::TimeoutError) { push << "to nobody" }.message, "2ms"
    # Longer ones too.
    pull.recv_timeout = push.send_timeout = TIMEOUT
    push.connect("inproc://ruby-live-limits")
    push << "again"
    assert_equal "again", pull.receive.to_s
  end

  def test_a_router_begins_to_mind_unknown_names_while_it_is_used
    router, dealer = connected(:ROUTER, :DEALER)
    dealer << "x"
    name = router.receive[0]
    router << %w[nobody lost]
    router.router_mandatory = true
    assert_raises(Sealwire::UnroutableError) { router << %w[nobody refused] }
    router << [name, "known"]
    assert_equal "known", dealer.receive.to_s
    router.router_mandatory = false
    router << %w[nobody lost]
  end

  def test_what_means_nothing_is_refused
    assert_equal "sockets have no option spam", assert_raises(ArgumentError) { Sealwire::PULL.new(spam: 1) }.message
    { sndhwm: "send_hwm", recv_timout: "recv_timeout", LINGER: "linger" }.each do |name, near|
      error = assert_raises(ArgumentError) { Sealwire::PULL.new(**{ name => 1 }) }
      assert_equal "sockets have no option #{name}; did you mean #{near}?", error.message
      assert_raises(NoMethodError) { Sealwire::PULL.new.public_send(:"#{name}=", 1) }
    end
    assert_raises(ArgumentError) { Sealwire::PULL.new(linger: -1) }
    assert_raises(ArgumentError) { Sealwire::PULL.new(recv_timeout: -1) }
    assert_raises(ArgumentError) { Sealwire::PULL.new(recv_hwm: -1) }
    assert_raises(TypeError) { Sealwire::PULL.new(recv_timeout: "soon") }
    assert_raises(TypeError) { Sealwire::PULL.new(security: :null) }
    bind = ->(type, **options) { Sealwire.const_get(type).new(**options).bind("tcp://127.0.0.1:0") }
    assert_match(/PULL socket has no option router_mandatory/,
                 assert_raises(Sealwire::OptionError) { bind.call(:PULL, router_mandatory: true) }.message)
    assert_raises(Sealwire::OptionError) { bind.call(:PULL, routing_id: "\0x") }
    assert_raises(Sealwire::OptionError) { bind.call(:PULL, type_of_service: 300) }
    assert_raises(Sealwire::OptionError) { bind.call(:PULL, reconnect_stop: :sometimes) }
    assert_raises(Sealwire::OptionError) { bind.call(:PULL, socks_proxy: "nowhere") }
    assert_raises(Sealwire::OptionError) { bind.call(:ROUTER, router_notify: :sometimes) }
  end

  def test_web_pages_are_refused_unless_allowed
    request = "GET / HTTP/1.1\r\nHost: name.example\r\nOrigin: https://page.example\r\n" \
              "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" \
              "Sec-WebSocket-Protocol: ZWS2.0/NULL\r\n\r\n"
    {
      {} => "403",
      { ws_allow_hosts: "name.example" } => "403",
      { ws_allow_origins: ["https://page.example"], ws_allow_hosts: ["name.example"] } => "101",
      { ws_allow_any_origin: true, ws_allow_hosts: "name.example" } => "101"
    }.each do |options, status|
      port = socket(:PULL, **options).bind("ws://127.0.0.1:*")[/:(\d+)/, 1]
      TCPSocket.open("127.0.0.1", port) do |browser|
        browser.write(request)
        assert_equal "HTTP/1.1 #{status}", browser.read(12), options.inspect
      end
    end
  end

  def test_times_without_end
    pull = socket(:PULL, linger: Float::INFINITY, recv_timeout: Float::INFINITY)
    assert_equal Float::INFINITY, pull.linger
    assert_nil pull.recv_timeout
    pull.bind("tcp://127.0.0.1:0")
  end

  def test_a_secret_option_is_not_read_back
    pull = Sealwire::PULL.new(socks_proxy: "127.0.0.1:1080", socks_username: "me", socks_password: "secret")
    assert_equal true, pull.socks_password
    refute_includes pull.inspect, "secret"
  end

  def test_options_take_effect
    pull, push = socket(:PULL, max_message_size: 100), socket(:PUSH)
    monitor = pull.monitor
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    push << "x" * 101
    assert_equal :too_large, await(monitor, :failed).failure.cause
    router, dealer = socket(:ROUTER), socket(:DEALER, metadata: { "X-Name" => "value" })
    dealer.connect(router.bind("tcp://127.0.0.1:0"))
    dealer << "x"
    assert_equal "value", router.receive.peer.metadata("X-Name")
  end
end
