# frozen_string_literal: true

require_relative "helper"

class MonitorTest < SealwireTest
  def test_a_connection_from_beginning_to_end
    server_security, client_security = securities(:blake3)
    pull, push = socket(:PULL, security: server_security), socket(:PUSH, security: client_security)
    server, client = pull.monitor, push.monitor
    endpoint = pull.bind("tcp://127.0.0.1:0")
    listening = server.next(timeout: TIMEOUT)
    assert_equal [:listening, endpoint, "listening on #{endpoint}"], [listening.name, listening.endpoint, listening.to_s]
    push.connect(endpoint)
    accepted = await(server, :accepted)
    assert_match(/\Atcp:\/\/127\.0\.0\.1/, accepted.address)
    ready = await(server, :ready)
    assert_equal accepted.connection, ready.connection
    assert_equal ["alice", :PUSH, "BLAKE3"], [ready.peer.user_id, ready.peer.socket_type, ready.peer.mechanism]
    assert_nil ready.failure
    assert_equal endpoint, await(client, :connected).endpoint
    await(client, :ready)
    push.close
    assert_equal ready.connection, await(server, :disconnected).connection
    pull.close
    assert_empty server.map(&:name) - %i[unbound disconnected]
    assert_nil server.next
    assert_equal 0, server.lost
  end

  def test_both_sides_hear_of_messages_that_were_dropped
    pub, sub = socket(:PUB, send_hwm: 2), socket(:SUB, recv_hwm: 2)
    of_pub, of_sub = pub.monitor, sub.monitor
    pub.bind("inproc://drops")
    sub.connect("inproc://drops")
    sub.subscribe("")
    pub.wait_subscribed("", 1, timeout: TIMEOUT)
    100.times { pub << "news" }
    dropped = pub.counters[:dropped_at_send]
    assert_includes 1..99, dropped
    began = await(of_pub, :drops_began)
    assert_equal [:SUB, nil], [began.peer.socket_type, began.count]
    (100 - dropped).times { assert_equal "news", sub.receive.first }
    assert_nil sub.try_receive
    assert_equal dropped, sub.counters[:missed]
    assert_includes 1..dropped, await(of_pub, :drops_ended).count
    assert_includes 1..dropped, await(of_sub, :messages_missed).count
  end

  def test_both_ends_of_a_connection
    pull, push = socket(:PULL), socket(:PUSH)
    of_pull, of_push = pull.monitor, push.monitor
    bound = pull.bind("tcp://127.0.0.1:0")
    push.connect(bound)
    listening = await(of_pull, :listening)
    assert_equal [bound, false], [listening.local_address, listening.by_peer?]
    accepted, connected = await(of_pull, :accepted), await(of_push, :connected)
    assert_equal [bound, bound], [accepted.local_address, connected.address]
    assert_equal accepted.address, connected.local_address
    assert_equal 3, [listening, accepted, connected].map(&:descriptor).grep(Integer).uniq.size
    client, server = await(of_pull, :ready).peer, await(of_push, :ready).peer
    assert_equal [true, false], [client.accepted?, server.accepted?]
    assert_equal [bound, bound], [client.endpoint, server.endpoint]
    assert_equal [bound, accepted.descriptor], [client.local_address, client.descriptor]
    assert_equal [client.address, connected.descriptor], [server.local_address, server.descriptor]
    push.disconnect(bound)
    assert_equal [false, true], [of_push, of_pull].map { |monitor| await(monitor, :disconnected).by_peer? }
  end

  def test_both_ends_of_a_connection_that_failed
    keys = Sealwire::KeyPair.generate
    pull = socket(:PULL, security: Sealwire::Security.curve_server(keys: keys, allow: :anyone))
    other = Sealwire::KeyPair.generate
    push = socket(:PUSH, security: Sealwire::Security.curve_client(server_key: other.public_key, keys: other))
    monitor = pull.monitor
    bound = pull.bind("tcp://127.0.0.1:0")
    push.connect(bound)
    event = await(monitor, :failed)
    assert_equal [bound, bound], [event.local_address, event.failure.local_address]
    assert_kind_of Integer, event.descriptor
    assert_equal event.descriptor, event.failure.descriptor
  end

  def test_within_the_process_there_is_no_address
    pull, push = connected(:PULL, :PUSH, over: "inproc://ruby-no-address")
    push.send("work")
    peer = pull.receive.peer
    assert_equal ["inproc://ruby-no-address", nil, nil], [peer.endpoint, peer.local_address, peer.descriptor]
  end

  def test_failures_and_retries
    push = socket(:PUSH, reconnect_interval: 0.01)
    monitor = push.monitor
    push.connect("tcp://127.0.0.1:1")
    event = await(monitor, :failed)
    failure = event.failure
    assert_equal [:connect, "tcp://127.0.0.1:1", false], [failure.cause, failure.endpoint, failure.ready?]
    assert_includes event.to_s, failure.reason
    retrying = await(monitor, :retrying)
    assert_equal 1, retrying.attempt
    assert_operator retrying.delay, :<=, 0.01
  end

  def test_an_endpoint_that_is_given_up
    push = socket(:PUSH, reconnect_stop: %i[connection_refused unreachable])
    monitor = push.monitor
    push.connect("tcp://127.0.0.1:1")
    assert_equal "tcp://127.0.0.1:1", await(monitor, :gave_up).endpoint
  end

  def test_nothing_happens
    pull = socket(:PULL)
    assert_nil pull.monitor.next(timeout: 0.01)
    assert_nil pull.monitor.next(timeout: 0)
  end

  def test_a_thread_that_waits_can_be_killed
    monitor = socket(:PULL).monitor
    waiting = Thread.new { monitor.next }
    Timeout.timeout(TIMEOUT) { Thread.pass until waiting.status == "sleep" }
    waiting.kill
    assert waiting.join(TIMEOUT)
  end
end
