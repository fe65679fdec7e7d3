# frozen_string_literal: true

require_relative "helper"
require "tmpdir"
require "sealwire/omq"

# What sockets of omq have around their messages.
class OmqSocketsTest < SealwireTest
  def omq(type, *arguments, **options)
    socket = OMQ.const_get(type).new(*arguments, linger: 0, recv_timeout: TIMEOUT, send_timeout: TIMEOUT, **options)
    @sockets << socket
    socket
  end

  # The block's value in a thread, once that thread sleeps.
  def while_it_waits(&block)
    thread = Thread.new(&block)
    thread.report_on_exception = false
    Timeout.timeout(TIMEOUT) { Thread.pass until thread.status == "sleep" || !thread.alive? }
    thread
  end

  # For ever is more than the limit of a test.
  def test_stop_closes_without_lingering
    push = OMQ::PUSH.connect("tcp://127.0.0.1:1", linger: Float::INFINITY)
    push << "to nobody"
    assert_nil push.stop
    assert_predicate push, :closed?
    assert_nil push.stop
    closing = OMQ::PUSH.connect("tcp://127.0.0.1:1", linger: Float::INFINITY)
    closing << "to nobody"
    waiting = while_it_waits { closing.close }
    closing.stop
    assert_nil waiting.value
  end

  def test_the_first_peer
    %w[tcp://127.0.0.1:0 inproc://the-first-peer].each do |endpoint|
      pull = omq(:PULL)
      uri = pull.bind(endpoint)
      promise = pull.peer_connected
      refute_predicate promise, :resolved?
      assert_equal 0, pull.connection_count
      waiting = while_it_waits { promise.wait }
      push = omq(:PUSH, uri.to_s)
      assert_equal :PUSH, waiting.value.socket_type
      assert_predicate promise, :resolved?
      assert_equal 1, pull.connection_count
      assert_equal :PULL, push.peer_connected.wait.socket_type
      # It has happened, whatever comes later.
      push.close
      pull.all_peers_gone.wait
      assert_equal :PUSH, pull.peer_connected.wait.socket_type
      pull.close
    end
  end

  # Any endpoint that `bind` gives can be connected to.
  def test_endpoints_as_uris
    Dir.mktmpdir do |folder|
      ["ipc://#{folder}/socket", "ipc://#{folder}/with spaces é", "inproc://a name", "tcp://127.0.0.1:0"].each do |endpoint|
        pull = omq(:PULL)
        uri = pull.bind(endpoint)
        assert_kind_of URI::Generic, uri
        assert_equal endpoint[/\A\w+/], uri.scheme
        assert_equal pull.bound_endpoints, [uri.to_s]
        push = omq(:PUSH)
        assert_equal uri.to_s, push.connect(uri.to_s).to_s
        push << "there"
        assert_equal ["there"], pull.receive
      end
      assert_equal "#{folder}/other", omq(:PULL).bind("ipc://#{folder}/other").path
    end
  end

  def test_all_peers_have_gone
    pull = omq(:PULL)
    uri = pull.bind("tcp://127.0.0.1:0")
    gone = pull.all_peers_gone
    refute_predicate gone, :resolved?
    pushes = Array.new(2) { omq(:PUSH, uri.to_s) }
    pull.wait_connected(2)
    pushes[0].close
    waiting = while_it_waits { gone.wait }
    refute_predicate gone, :resolved?
    pushes[1].close
    assert_equal true, waiting.value
    assert_equal 0, pull.connection_count
  end

  def test_promises_do_not_wait_for_each_other
    pull = omq(:PULL)
    uri = pull.bind("tcp://127.0.0.1:0")
    gone = while_it_waits { pull.all_peers_gone.wait }
    connected = while_it_waits { pull.peer_connected.wait }
    push = omq(:PUSH, uri.to_s)
    assert_equal :PUSH, connected.value.socket_type
    assert_predicate gone, :alive?
    push.close
    assert_equal true, gone.value
  end

  def test_a_wait_that_is_ended_leaves_the_others
    pull = omq(:PULL)
    uri = pull.bind("tcp://127.0.0.1:0")
    reader = while_it_waits { pull.peer_connected.wait }
    other = while_it_waits { pull.peer_connected.wait }
    reader.kill.join
    omq(:PUSH, uri.to_s)
    assert_equal :PUSH, other.value.socket_type
  end

  def test_a_promise_of_a_socket_that_is_closed
    publisher = omq(:PUB)
    publisher.bind("tcp://127.0.0.1:0")
    waiting = %i[peer_connected subscriber_joined all_peers_gone].map { |name| while_it_waits { [publisher.public_send(name).wait] } }
    publisher.close
    assert_equal [[nil]] * 3, waiting.map(&:value)
  end

  def test_a_subscriber_that_joined_before_anyone_asked
    publisher = omq(:PUB)
    subscriber = omq(:SUB, publisher.bind("tcp://127.0.0.1:0").to_s, subscribe: "weather.")
    publisher.wait_subscribed("weather.", 1)
    assert_equal :SUB, publisher.subscriber_joined.wait.socket_type
    publisher << "weather.today sunny"
    publisher << "sports"
    publisher << "weather.tomorrow rain"
    assert_equal [["weather.today sunny"], ["weather.tomorrow rain"]], Array.new(2) { subscriber.receive }
  end

  def test_the_first_topic
    publisher = omq(:XPUB)
    uri = publisher.bind("tcp://127.0.0.1:0").to_s
    omq(:XSUB, uri, subscribe: "a")
    assert_equal ["\x01a".b], publisher.receive
    omq(:SUB, uri, subscribe: OMQ::SUB::EVERYTHING)
    assert_equal ["\x01".b], publisher.receive
    assert_match(/subscribe: is for SUB and XSUB, this is PULL/, assert_raises(ArgumentError) { OMQ::PULL.new(subscribe: "a") }.message)
  end

  def test_the_end_of_receiving
    pull = omq(:PULL)
    push = omq(:PUSH, pull.bind("tcp://127.0.0.1:0").to_s)
    push << "first"
    assert pull.wait_readable
    waiting = while_it_waits { [pull.receive, pull.receive] }
    pull.close_read
    assert_equal [["first"], nil], waiting.value
    push << "later"
    assert pull.wait_readable
    seen = []
    pull.each { |message| seen << message }
    assert_equal [["later"]], seen
    pull.close
    assert_raises(Sealwire::ClosedError) { pull.receive }
  end

  def test_what_a_socket_is_ready_for
    pull = omq(:PULL)
    refute pull.wait_readable(0)
    push = omq(:PUSH, send_hwm: 1)
    refute push.wait_writable(0)
    push.connect(pull.bind("tcp://127.0.0.1:0").to_s)
    assert push.wait_writable
    push << "message"
    assert pull.wait_readable
    assert_equal ["message"], pull.receive
  end

  def test_what_happens_without_room
    assert_equal %i[drop_newest block drop_newest block], %i[PUB PUSH RADIO SUB].map { |type| omq(type).on_mute }
    publisher = omq(:PUB, on_mute: :block)
    assert_equal [:block, true], [publisher.on_mute, publisher.xpub_no_drop]
    publisher.on_mute = :drop_newest
    assert_equal :drop_newest, publisher.on_mute
    omq(:SUB, on_mute: :block)
    error = assert_raises(ArgumentError) { OMQ::PUB.new(on_mute: :drop_oldest) }
    assert_equal "on_mute of a PUB is :drop_newest or :block, not :drop_oldest", error.message
    error = assert_raises(ArgumentError) { OMQ::SUB.new(on_mute: :drop_newest) }
    assert_equal "on_mute of a SUB is :block, not :drop_newest", error.message
  end

  def test_a_block_hears_of_events
    pull = omq(:PULL)
    events = Queue.new
    task = pull.monitor do |event|
      events << case event
                in { type: :listening, endpoint: }
                  [:listening, endpoint]
                in { type: }
                  type
                end
    end
    uri = pull.bind("tcp://127.0.0.1:0").to_s
    push = omq(:PUSH, uri)
    assert_equal [[:listening, uri], :accepted, :handshake_succeeded], Array.new(3) { events.pop }
    push.close
    assert_equal :disconnected, events.pop
    pull.close
    task.wait
    assert_equal :monitor_stopped, Array.new(events.size) { events.pop }.last
    assert_raises(ArgumentError) { omq(:PULL).monitor(verbose: true) {} }
  end

  def test_a_monitor_is_stopped
    events = Queue.new
    task = omq(:PULL).monitor { |event| events << event.type }
    task.stop
    assert_equal :monitor_stopped, events.pop
    assert_empty events
  end

  def test_events_of_failures
    push = omq(:PUSH, reconnect_interval: 0.01)
    events = Queue.new
    push.monitor { |event| events << event }
    push.connect("tcp://127.0.0.1:1")
    connecting = events.pop
    assert_equal [:connecting, "tcp://127.0.0.1:1"], [connecting.type, connecting.endpoint]
    failed = events.pop
    assert_equal [:connect_failed, "tcp://127.0.0.1:1"], [failed.type, failed.endpoint]
    assert_includes failed.detail[:reason], "refused"
    retried = events.pop
    assert_equal [:connect_retried, 1], [retried.type, retried.detail[:attempt]]
  end

  def test_a_router_sends_to_a_peer
    router = omq(:ROUTER)
    req = omq(:REQ, router.bind("tcp://127.0.0.1:0").to_s, identity: "me")
    req << "question"
    assert_equal ["me", "", "question"], router.receive
    router.send_to("me", "answer")
    assert_equal ["answer"], req.receive
  end

  def test_servers_and_peers_send_to_a_connection
    server = omq(:SERVER)
    client = omq(:CLIENT, server.bind("tcp://127.0.0.1:0").to_s)
    client << "question"
    id, question = server.receive
    assert_equal [4, "question"], [id.bytesize, question]
    assert_same server, server.send_to(id, "answer")
    assert_equal ["answer"], client.receive
    peer, other = omq(:PEER), omq(:PEER)
    number = other.connect_peer(peer.bind("tcp://127.0.0.1:0").to_s, timeout: TIMEOUT)
    other.send_to([number].pack("N"), "hello")
    id, hello = peer.receive
    assert_equal "hello", hello
    peer.send_to(id, "hello yourself")
    assert_equal [[number].pack("N"), "hello yourself"], other.receive
    assert_raises(Sealwire::UnroutableError) { peer.send_to("none", "lost") }
  end

  def test_a_radio_publishes_to_groups
    radio = omq(:RADIO)
    uri = radio.bind("tcp://127.0.0.1:0").to_s
    dish = omq(:DISH, uri, group: "weather")
    radio.wait_subscribed("weather", 1)
    assert_same radio, radio.publish("sport", "1:0")
    assert_same radio, radio.publish("weather", "rain")
    radio.send("wind", group: "weather", timeout: TIMEOUT)
    radio << %w[weather sun]
    assert_equal [%w[weather rain], %w[weather wind], %w[weather sun]], Array.new(3) { dish.receive }
    assert_raises(Sealwire::MessageError) { radio.send("to whom?") }
    inner = nil
    OMQ::DISH.new(uri, group: "weather") { |socket| inner = socket }
    assert_predicate inner, :closed?
  end

  def test_queues_without_limits
    push = omq(:PUSH, send_hwm: 1)
    push.connect("tcp://127.0.0.1:1")
    assert push.try_send("to nobody yet")
    refute push.try_send("to nobody yet")
    assert_nil push.set_unbounded
    assert_equal [0, 0], [push.send_hwm, push.recv_hwm]
    # More than a queue holds otherwise.
    1500.times { assert push.try_send("to nobody yet") }
  end

  def test_whether_a_router_tells_of_unknown_peers
    assert_equal [false, true, false], [nil, true, false].map { |value| omq(:ROUTER, router_mandatory: value).router_mandatory? }
  end

  def test_a_range_of_waits_before_connecting_again
    push = omq(:PUSH, reconnect_interval: 0.01..0.02)
    assert_equal [0.01, 0.02], [push.reconnect_interval, push.reconnect_interval_max]
    monitor = push.monitor
    push.connect("tcp://127.0.0.1:1")
    delays = Array.new(5) { await(monitor, :retrying).delay }
    assert_operator delays.max, :<=, 0.02
    assert_equal [0.5, nil], [omq(:PUSH, reconnect_interval: 0.5)].flat_map { |other| [other.reconnect_interval, other.reconnect_interval_max] }
    [(1..), (..1)].each { |range| assert_raises(ArgumentError) { omq(:PUSH).reconnect_interval = range } }
  end

  def test_connecting_once
    push = omq(:PUSH)
    push.reconnect_enabled = false
    monitor = push.monitor
    push.connect("tcp://127.0.0.1:1")
    await(monitor, :failed)
    assert_equal :gave_up, await(monitor, :gave_up).name
    again = omq(:PUSH)
    again.reconnect_enabled = false
    again.reconnect_enabled = true
    monitor = again.monitor
    again.connect("tcp://127.0.0.1:1")
    assert_equal 1, await(monitor, :retrying).attempt
  end

  def test_the_error_of_a_fault
    assert_same Sealwire::EngineFailedError, OMQ::SocketDeadError
    assert_operator OMQ::SocketDeadError, :<, StandardError
  end
end
