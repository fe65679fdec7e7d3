# frozen_string_literal: true

require_relative "helper"
require "io/wait"
require "socket"

class SocketsTest < SealwireTest
  %i[null plain curve blake3].each do |mechanism|
    define_method(:"test_request_and_reply_with_#{mechanism}") do
      server, client = connected(:REP, :REQ, mechanism: mechanism)
      client << "hello"
      request = server.receive
      assert_equal "hello", request.to_s
      assert_equal [(mechanism == :null ? nil : "alice")], [request.peer.user_id]
      assert_equal mechanism.to_s.upcase, request.peer.mechanism
      assert_equal :REQ, request.peer.socket_type
      assert_equal %i[curve blake3].include?(mechanism), !request.peer.public_key.nil?
      server << %w[two frames]
      assert_equal %w[two frames], client.receive.frames
    end
  end

  def test_messages_keep_their_frames
    pull, push = connected(:PULL, :PUSH, mechanism: :blake3)
    sent = [[""], ["\0\xff".b], ["a", "", "b" * 70, "c" * 71, "d" * 100_000], ["e" * 3_000_000]]
    sent.each { |frames| push << frames }
    sent.each do |frames|
      message = pull.receive
      assert_equal frames, message.frames
      assert_equal frames, message.to_a
      assert_equal frames.last, message.to_s
      assert_equal [frames.size, frames.sum(&:bytesize)], [message.length, message.bytesize]
      assert_equal [frames[0], frames[-1], nil, nil], [message[0], message[-1], message[9], message[-9]]
      message.frames.each do |frame|
        assert_equal Encoding::BINARY, frame.encoding
        assert_predicate frame, :frozen?
      end
    end
  end

  def test_datagrams_go_to_a_plain_socket_and_come_from_it
    dgram = socket(:DGRAM)
    UDPSocket.open do |plain|
      plain.bind("127.0.0.1", 0)
      here = "127.0.0.1:#{plain.local_address.ip_port}"
      assert_match(/binds/, assert_raises(Sealwire::StateError) { dgram << [here, "early"] }.message)
      port = Integer(dgram.bind("udp://127.0.0.1:0")[/\d+\z/])
      plain.send("hello", 0, "127.0.0.1", port)
      assert_equal [here, "hello"], dgram.receive.frames
      dgram << [here, "welcome"]
      assert plain.wait_readable(TIMEOUT)
      text, from = plain.recvfrom_nonblock(100)
      assert_equal ["welcome", port], [text, from[1]]
      assert_match(/not 0/, assert_raises(Sealwire::MessageError) { dgram << ["127.0.0.1:0", "nobody"] }.message)
      assert_match(/one frame/, assert_raises(Sealwire::MessageError) { dgram << "no address" }.message)
      assert_raises(Sealwire::EndpointError) { dgram.connect("udp://127.0.0.1:9") }
    end
  end

  def test_messages_are_text_when_they_are
    pull, push = connected(:PULL, :PUSH)
    push << "Grüße" << "\xff"
    assert_equal "Grüße", pull.receive.text
    assert_raises(EncodingError) { pull.receive.text }
  end

  def test_messages_can_be_passed_on
    first, second = connected(:PULL, :PUSH), connected(:PULL, :PUSH)
    first[1] << %w[a b]
    message = first[0].receive
    second[1] << message
    assert_equal message, second[0].receive
    assert_equal Sealwire::Message.new(%w[a b]), message
  end

  def test_a_worker_leaves_with_what_it_was_sent
    leaving, push = connected(:PULL, :PUSH)
    staying = socket(:PULL)
    push.connect(staying.bind("tcp://127.0.0.1:*"))
    push.wait_connected(2)
    500.times { |number| push << number.to_s }
    received = [leaving.receive.to_s]
    leaving.drain(TIMEOUT)
    leaving.each { |message| received << message.to_s }
    assert_equal 0, assert_raises(Sealwire::DrainedError) { leaving.receive }.cut_off
    received << staying.receive.to_s while received.size < 500
    assert_equal (0...500).to_a, received.map(&:to_i).sort
    assert_raises(Sealwire::UnsupportedError) { push.drain(0) }
  end

  def test_publish_and_subscribe
    publisher, subscriber = connected(:XPUB, :SUB, mechanism: :blake3)
    subscriber.subscribe("news.")
    assert_equal "\x01news.".b, publisher.receive.to_s
    publisher << "sport.1" << "news.1" << ["news.2", "body"]
    assert_equal "news.1", subscriber.receive.to_s
    assert_equal ["news.2", "body"], subscriber.receive.frames
    subscriber.unsubscribe("news.")
    assert_equal "\x00news.".b, publisher.receive.to_s
    assert_raises(Sealwire::StateError) { subscriber.unsubscribe("never") }
  end

  def test_the_last_value_of_a_topic_goes_to_a_new_subscriber_alone
    publisher = socket(:XPUB, xpub_manual_last_value: true)
    bound = publisher.bind("tcp://127.0.0.1:0")
    first, second = %w[a1 a2].map do |value|
      subscriber = socket(:SUB)
      subscriber.connect(bound)
      subscriber.subscribe("a")
      assert_equal "\x01a".b, publisher.receive.to_s
      publisher.subscribe("a").send(value)
      subscriber
    end
    publisher.send("a3")
    assert_equal %w[a1 a3], Array.new(2) { first.receive.to_s }
    assert_equal %w[a2 a3], Array.new(2) { second.receive.to_s }
  end

  def test_cancellations_of_an_xsub_are_all_passed_or_the_last_alone
    { true => "\x00a", false => "\x01b" }.each do |verbose, expected|
      publisher = socket(:XPUB, xpub_verboser: true)
      subscriber = socket(:XSUB, xsub_verbose_unsubscribe: verbose)
      subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
      2.times { subscriber.send("\x01a") }
      assert_equal "\x01a".b, publisher.receive.to_s
      # The first of two.
      %W[\x00a \x01b].each { |message| subscriber.send(message) }
      assert_equal expected.b, publisher.receive.to_s
    end
  end

  def test_topics_are_counted
    publisher, subscriber = connected(:XPUB, :SUB)
    assert_equal [0, 0], [publisher.topics, subscriber.topics]
    %w[a a b].each { |topic| subscriber.subscribe(topic) }
    assert_equal %W[\x01a \x01b], Array.new(2) { publisher.receive.to_s }
    assert_equal [2, 2], [publisher.topics, subscriber.topics]
    assert_raises(Sealwire::UnsupportedError) { socket(:PULL).topics }
  end

  def test_push_and_pull_from_many
    pull = socket(:PULL)
    endpoint = pull.bind("tcp://127.0.0.1:0")
    3.times { |number| socket(:PUSH).connect(endpoint) << number.to_s }
    assert_equal(%w[0 1 2], Array.new(3) { pull.receive.to_s }.sort)
  end

  def test_dealer_and_router
    router = socket(:ROUTER, router_mandatory: true)
    dealer = socket(:DEALER, routing_id: "worker")
    dealer.connect(router.bind("tcp://127.0.0.1:0"))
    dealer << "ready"
    assert_equal %w[worker ready], router.receive.frames
    router << %w[worker work]
    assert_equal "work", dealer.receive.to_s
    assert_raises(Sealwire::UnroutableError) { router << %w[nobody work] }
  end

  def test_pairs_within_the_process
    one, other = socket(:PAIR), socket(:PAIR)
    one.bind("inproc://pairs")
    other.connect("inproc://pairs")
    one << "there"
    assert_equal "there", other.receive.to_s
    other << "back"
    assert_equal "back", one.receive.to_s
  end

  def test_xsub_and_pub_over_ipc
    publisher, subscriber = connected(:XPUB, :XSUB, over: "ipc://@sealwire-ruby-#{Process.pid}")
    subscriber << "\x01".b
    publisher.receive
    publisher << "all"
    assert_equal "all", subscriber.receive.to_s
  end

  def test_server_and_client
    server, client = connected(:SERVER, :CLIENT, mechanism: :curve)
    client << "question"
    question = server.receive
    assert_equal "question", question.to_s
    assert_equal question.peer.connection_routing_id, question.routing_id
    server << Sealwire::Message.with_routing_id(question.routing_id, "answer")
    assert_equal "answer", client.receive.to_s
  end

  def test_peers_connect_by_routing_id
    one, other = socket(:PEER), socket(:PEER)
    routing_id = one.connect_peer(other.bind("tcp://127.0.0.1:0"), timeout: TIMEOUT)
    one << Sealwire::Message.with_routing_id(routing_id, "hello")
    assert_equal "hello", other.receive.to_s
    error = assert_raises(Sealwire::TimeoutError) { one.connect_peer("tcp://127.0.0.1:1", timeout: 0.3) }
    assert_equal :connect, error.failure.cause
  end

  def test_subscribers_that_were_waited_for_miss_nothing
    publisher, subscriber = socket(:PUB), socket(:SUB)
    error = assert_raises(Sealwire::TimeoutError) { publisher.wait_connected(1, timeout: 0) }
    assert_match(/no peer was connected/, error.message)
    monitor = publisher.monitor
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
    assert_same publisher, publisher.wait_connected(1, timeout: TIMEOUT)
    assert_raises(Sealwire::TimeoutError) { publisher.wait_subscribed("weather.", 1, timeout: 0.02) }
    subscriber.subscribe("weather")
    publisher.wait_subscribed("weather.", 1, timeout: TIMEOUT) << "weather.today"
    assert_equal "weather.today", subscriber.receive.to_s
    names = []
    names << monitor.next(timeout: TIMEOUT).name until names.last == :subscribed
    assert_raises(Sealwire::UnsupportedError) { subscriber.wait_subscribed("", 1) }
  end

  def test_groups
    radio, dish = socket(:RADIO), socket(:DISH)
    monitor = radio.monitor
    dish.join("weather")
    dish.connect(radio.bind("tcp://127.0.0.1:0"))
    await(monitor, :ready)
    # JOIN is on its way after the handshake: sent until it has arrived.
    message = nil
    until message
      radio << Sealwire::Message.to_group("sport", "1:0") << Sealwire::Message.to_group("weather", "rain")
      message = dish.try_receive
    end
    assert_equal ["weather", "rain"], [message.group, message.to_s]
    assert_raises(Sealwire::StateError) { dish.join("weather") }
    dish.leave("weather")
    assert_raises(Sealwire::MessageError) { radio << "no group" }
  end

  def test_scatter_gather_and_channel
    gather, scatter = connected(:GATHER, :SCATTER)
    scatter << "work"
    assert_equal "work", gather.receive.to_s
    assert_raises(Sealwire::MessageError) { scatter << %w[two frames] }
    one, other = connected(:CHANNEL, :CHANNEL)
    other << "hello"
    assert_equal "hello", one.receive.to_s
  end

  def test_stream_speaks_tcp
    stream = socket(:STREAM)
    port = stream.bind("tcp://127.0.0.1:0")[/\d+\z/]
    require "socket"
    TCPSocket.open("127.0.0.1", port) do |tcp|
      id, empty = stream.receive.frames
      assert_equal "", empty
      tcp.write("plain")
      assert_equal [id, "plain"], stream.receive.frames
      stream << [id, "text"]
      assert_equal "text", tcp.readpartial(10)
    end
  end

  def test_the_turn_of_a_request
    server, client = connected(:REP, :REQ)
    assert_raises(Sealwire::StateError) { client.receive }
    assert_raises(Sealwire::StateError) { server << "nothing was asked" }
    client << "one"
    assert_raises(Sealwire::StateError) { client << "two" }
    assert_equal "one", server.receive.to_s
  end

  def test_many_at_once_and_one_by_one
    pull, push = connected(:PULL, :PUSH)
    assert_nil pull.try_receive
    50.times { |number| push << number.to_s }
    received = []
    received.concat(pull.receive_many(20)) while received.size < 50
    assert_equal 50.times.map(&:to_s), received.map(&:to_s)
    assert_raises(Sealwire::TimeoutError) { pull.receive_many(1, timeout: 0) }
    assert push.try_send("last")
    assert_equal "last", pull.receive.to_s
  end

  def test_the_collector_knows_of_payloads
    pull, push = connected(:PULL, :PUSH)
    payload = "x" * (1 << 20)
    before = GC.count
    200.times do
      push << payload
      pull.receive
      # The collector looks when the next string of some size is made.
      String.new(capacity: 256)
    end
    assert_operator GC.count, :>, before
  end

  def test_what_cannot_be_sent
    push = socket(:PUSH)
    push.connect("tcp://127.0.0.1:1")
    assert_raises(TypeError) { push << 7 }
    assert_raises(TypeError) { push << ["a", nil] }
    assert_raises(Sealwire::MessageError) { push << [] }
    assert_raises(Sealwire::UnsupportedError) { push.receive }
    assert_raises(Sealwire::UnsupportedError) { socket(:PULL) << "x" }
  end

  def test_an_endpoint_is_unbound_with_those_who_came_through_it
    pull, push = socket(:PULL), socket(:PUSH)
    push.connect(pull.bind("inproc://left"))
    assert_equal 1, pull.peers.size
    pull.unbind_and_disconnect("inproc://left")
    assert_equal [[], [], []], [pull.peers, push.peers, pull.bound_endpoints]
  end

  def test_endpoints
    pull = socket(:PULL)
    endpoint = pull.bind("tcp://127.0.0.1:0")
    assert_match(/\Atcp:\/\/127\.0\.0\.1:[1-9]\d*\z/, endpoint)
    assert_equal [endpoint], pull.bound_endpoints
    assert_raises(Sealwire::BindError) { socket(:PULL).bind(endpoint) }
    assert_raises(Sealwire::EndpointError) { pull.bind("http://127.0.0.1:0") }
    assert_raises(Sealwire::EndpointError) { pull.connect("tcp://*:1") }
    pull.unbind(endpoint)
    assert_equal [], pull.bound_endpoints
    assert_raises(Sealwire::EndpointError) { pull.unbind(endpoint) }
    pull.connect("tcp://127.0.0.1:1")
    assert_equal ["tcp://127.0.0.1:1"], pull.connected_endpoints
    pull.disconnect("tcp://127.0.0.1:1")
    assert_equal [], pull.connected_endpoints
  end

  def test_web_sockets
    server, client = connected(:REP, :REQ, mechanism: :blake3, over: "ws://127.0.0.1:0/path")
    client << "over HTTP"
    assert_equal "over HTTP", server.receive.to_s
  end

  def test_a_socket_that_is_closed
    pull, push = connected(:PULL, :PUSH)
    push << "text"
    pull.receive
    pull.close
    assert_predicate pull, :closed?
    assert_raises(Sealwire::ClosedError) { pull.receive }
    pull.close
    unmade = socket(:PULL)
    unmade.close
    assert_raises(Sealwire::ClosedError) { unmade.bind("tcp://127.0.0.1:0") }
  end

  def test_what_is_not_sent_is_told
    push = Sealwire::PUSH.new(linger: 0.05)
    push.connect("tcp://127.0.0.1:1")
    push << "to nobody"
    assert_raises(Sealwire::UnsentError) { push.close }
  end

  def test_closing_with_a_linger_time_of_its_own_drops_what_is_left
    push = Sealwire::PUSH.new(linger: Float::INFINITY)
    push.connect("tcp://127.0.0.1:1")
    2.times { push << "to nobody" }
    monitor = push.monitor
    error = assert_raises(Sealwire::UnsentError) { push.close(linger: 0) }
    assert_match(/\A2 messages/, error.message)
    assert_nil push.close
    assert_nil push.close(linger: 0)
    monitor.each { nil }
    assert_raises(ArgumentError) { push.close(linger: -1) }
    assert_raises(ArgumentError) { push.close(timeout: 1) }
  end

  def test_a_socket_that_is_closing_ends_at_once_when_told_so
    push = Sealwire::PUSH.new(linger: Float::INFINITY)
    push.connect("tcp://127.0.0.1:1")
    push << "to nobody"
    closing = Thread.new { assert_raises(Sealwire::UnsentError) { push.close } }
    Thread.pass until push.closed?
    push.close(linger: 0)
    assert closing.join(TIMEOUT)
  end

  def test_an_exception_of_a_block_is_not_hidden_by_closing
    unsent = proc do |push|
      push.connect("tcp://127.0.0.1:1")
      push << "to nobody"
      raise KeyError, "mine"
    end
    assert_equal "mine", assert_raises(KeyError) { Sealwire::PUSH.open(linger: 0.05, &unsent) }.message
    assert_raises(Sealwire::UnsentError) do
      Sealwire::PUSH.open(linger: 0.05) do |push|
        push.connect("tcp://127.0.0.1:1")
        push << "to nobody"
      end
    end
    assert_equal 7, Sealwire::PUSH.open { 7 }
    left = catch(:out) { Sealwire::PUSH.open { |push| throw :out, push } }
    assert_raises(Sealwire::ClosedError) { left << "late" }
  end

  def test_sockets_are_iterated_until_they_close
    pull, push = connected(:PULL, :PUSH)
    3.times { |number| push << number.to_s }
    seen = []
    pull.each do |message|
      seen << message.to_s
      pull.close if seen.size == 3
    end
    assert_equal %w[0 1 2], seen
    Sealwire::PULL.open { |socket| @inner = socket }
    assert_predicate @inner, :closed?
  end

  def test_peers_and_counters
    server, client = connected(:REP, :REQ, mechanism: :blake3)
    client << "hello"
    server.receive
    peer, = server.peers
    assert_equal "alice", peer.user_id
    assert_match(/\Atcp:\/\/127\.0\.0\.1:\d+\z/, peer.address)
    assert_equal "REQ", peer.metadata("Socket-Type")
    assert_nil peer.metadata("X-None")
    assert_equal [1, 5], server.counters.values_at(:messages_received, :bytes_received)
    assert_equal 1, server.counters[:handshakes_completed]
  end

  def test_a_socket_is_not_copied
    pull = socket(:PULL)
    assert_raises(TypeError) { pull.dup }
    assert_raises(TypeError) { Marshal.dump(pull) }
    assert_raises(ArgumentError) { Sealwire::Socket.new(:SEALWIRE) }
    assert_raises(Sealwire::StateError) { Sealwire::Socket.allocate.bind("tcp://127.0.0.1:0") }
    assert_equal :PULL, Sealwire::Socket.new(:PULL).socket_type
  end
end
