# frozen_string_literal: true

require_relative "helper"

# Waiting for sockets beside other descriptors.
class ReadinessTest < SealwireTest
  # The operations that are possible, once this one is. A wake-up may be for nothing.
  def ready(readiness, operation)
    until (possible = readiness.take).include?(operation)
      assert IO.select([readiness], nil, nil, TIMEOUT), "#{operation} did not become possible"
    end
    possible
  end

  def test_a_socket_in_select
    pull, push = connected(:PULL, :PUSH)
    readiness = pull.readiness
    assert_empty readiness.take
    reader, writer = IO.pipe
    writer.write("x")
    assert_includes IO.select([readiness, reader], nil, nil, TIMEOUT)[0], reader
    push << "message"
    assert_equal [:receive], ready(readiness, :receive)
    assert_equal "message", pull.try_receive.to_s
    assert_empty readiness.take
    assert_equal [:send], ready(push.readiness, :send)
    pull.close
    assert_includes ready(readiness, :closed), :closed
    [reader, writer].each(&:close)
  end

  def test_the_descriptor_is_there_as_long_as_its_io
    pull, push = connected(:PULL, :PUSH)
    io = pull.readiness.to_io
    # Others would get its number, if it were free.
    GC.start
    pipes = Array.new(10) { IO.pipe }
    refute_includes pipes.flatten.map(&:fileno), io.fileno
    push << "message"
    assert_same io, io.wait_readable(TIMEOUT)
    pipes.flatten.each(&:close)
  end

  def test_waiting_for_one_socket
    pull, push = connected(:PULL, :PUSH)
    assert_nil pull.wait_readable(0)
    assert_same push, push.wait_writable(TIMEOUT)
    waiting = Thread.new { pull.wait_readable }
    Timeout.timeout(TIMEOUT) { Thread.pass until waiting.status == "sleep" }
    push << "message"
    assert_same pull, waiting.value
    assert_equal "message", pull.receive.to_s
    waiting = Thread.new { pull.wait_readable }
    waiting.report_on_exception = false
    Timeout.timeout(TIMEOUT) { Thread.pass until waiting.status == "sleep" }
    pull.close
    assert_raises(Sealwire::ClosedError) { waiting.value }
  end

  def test_the_end_of_receiving
    pull, push = connected(:PULL, :PUSH)
    push.wait_connected(1)
    threads = Array.new(3) { Thread.new { pull.receive } } + [Thread.new { pull.receive_many(5) }]
    threads.each { |thread| thread.report_on_exception = false }
    Timeout.timeout(TIMEOUT) { Thread.pass until threads.all? { |thread| thread.status == "sleep" } }
    refute_predicate pull, :read_closed?
    pull.close_read
    threads.each do |thread|
      assert_match(/close_read has ended receiving/, assert_raises(Sealwire::ClosedError) { thread.value }.message)
    end
    assert_predicate pull, :read_closed?
    refute_predicate pull, :closed?
    # A later message is received all the same.
    push << "later"
    pull.wait_readable(TIMEOUT)
    assert_equal "later", pull.receive.to_s
    assert_same pull, pull.each { flunk "there is nothing" }
  end

  def test_many_at_once
    pull, push = connected(:PULL, :PUSH)
    push.wait_connected(1)
    messages = Array.new(2000) { |number| number.even? ? number.to_s : [number.to_s, "x"] }
    sending = Thread.new { push.send_many(messages) }
    received = []
    received.concat(pull.receive_many(100)) until received.size == 2000
    assert_equal 2000, sending.value
    assert_equal messages.map { |message| Array(message) }, received.map(&:frames)
    assert_equal 0, push.send_many([])
    assert_raises(TypeError) { push.send_many(["text", 5]) }
    assert_raises(TypeError) { push.send_many("text") }
    assert_nil pull.try_receive
  end

  def test_many_without_room_for_all
    push = socket(:PUSH, send_hwm: 10)
    # Nobody listens there; messages wait for somebody who does.
    push.connect("tcp://127.0.0.1:1")
    assert_equal 10, push.send_many(Array.new(20, "x"), timeout: 0)
    assert_raises(Sealwire::TimeoutError) { push.send_many(%w[a b], timeout: 0) }
  end

  def test_many_up_to_one_that_cannot_be_sent
    server, client = connected(:SERVER, :CLIENT)
    client << "hello"
    routing_id = server.receive.routing_id
    to_client = Sealwire::Message.with_routing_id(routing_id, "answer")
    to_nobody = Sealwire::Message.with_routing_id(routing_id == 1 ? 2 : 1, "lost")
    assert_equal 2, server.send_many([to_client, to_client, to_nobody, to_client])
    assert_raises(Sealwire::UnroutableError) { server.send_many([to_nobody, to_client]) }
    assert_equal %w[answer answer], Array.new(2) { client.receive.to_s }
    assert_nil client.try_receive
  end

  def test_the_end_of_receiving_is_for_the_process_that_made_the_socket
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      pull = Sealwire::PULL.new
      pull.bind("tcp://127.0.0.1:0")
      readiness = pull.readiness
      Process.wait(fork do
        [-> { pull.close_read }, -> { readiness.take }, -> { pull.wait_readable(0) }].each do |call|
          call.call
        rescue Sealwire::ForkedError
          $stdout.puts "made before the fork"
        end
        $stdout.flush
      end)
      p pull.read_closed?
    RUBY
    assert_equal "made before the fork\n" * 3 + "false\n", output
  end
end
