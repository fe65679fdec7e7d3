# frozen_string_literal: true

require_relative "helper"

class WaitingTest < SealwireTest
  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Gives back once the thread sleeps, in a call that waits.
  def until_asleep(thread)
    Timeout.timeout(TIMEOUT) { Thread.pass until thread.status == "sleep" || !thread.alive? }
  end

  def test_nothing_came
    pull = socket(:PULL)
    pull.bind("tcp://127.0.0.1:0")
    [0, 0.001, 0.05].each do |limit|
      begun = now
      error = assert_raises(Sealwire::TimeoutError) { pull.receive(timeout: limit) }
      assert_operator now - begun, :>=, limit
      assert_match(/no message came within/, error.message)
      assert_nil error.failure
    end
    pull.recv_timeout = 0.01
    assert_raises(Sealwire::TimeoutError) { pull.receive }
  end

  def test_no_room
    push = socket(:PUSH, send_timeout: 0.01)
    push.bind("tcp://127.0.0.1:0")
    assert_match(/no peer was connected/, assert_raises(Sealwire::TimeoutError) { push << "x" }.message)
    assert_raises(Sealwire::TimeoutError) { push.send("x", timeout: 0.005) }
    refute push.try_send("x")
  end

  def test_the_reason_is_told
    req = socket(:REQ)
    monitor = req.monitor
    req.connect("tcp://127.0.0.1:1")
    await(monitor, :failed)
    req << "x"
    error = assert_raises(Sealwire::TimeoutError) { req.receive(timeout: 0.01) }
    assert_match(/the last connection failed: tcp:\/\/127\.0\.0\.1:1: cannot connect/, error.message)
    assert_instance_of Sealwire::TimeoutError, error
    assert_equal [:connect, false, false], [error.failure.cause, error.failure.ready?, error.failure.handshake_failure?]
  end

  def test_other_threads_run_meanwhile
    pull, push = connected(:PULL, :PUSH, mechanism: :blake3)
    waiting = Thread.new { pull.receive.to_s }
    until_asleep(waiting)
    push << "from the other thread"
    assert_equal "from the other thread", waiting.value
  end

  def test_a_sender_waits_for_room
    pull, push = socket(:PULL, recv_hwm: 1), socket(:PUSH, send_hwm: 1)
    push.connect(pull.bind("inproc://room"))
    count = 0
    count += 1 while push.try_send(count.to_s)
    waiting = Thread.new { push << "waited" }
    until_asleep(waiting)
    received = Array.new(count + 1) { pull.receive.to_s }
    assert_equal "waited", received.last
    waiting.join
  end

  def test_threads_share_a_socket
    pull, push = connected(:PULL, :PUSH)
    readers = Array.new(4) { Thread.new { Array.new(100) { pull.receive.to_s } } }
    writers = Array.new(4) { |n| Thread.new { 100.times { |i| push << "#{n}.#{i}" } } }
    writers.each(&:join)
    received = readers.flat_map(&:value)
    assert_equal 400, received.uniq.size
  end

  def test_a_waiting_thread_can_be_killed
    pull, push = connected(:PULL, :PUSH)
    waiting = Thread.new { pull.receive }
    until_asleep(waiting)
    waiting.kill
    assert waiting.join(TIMEOUT)
    # It has taken nothing along.
    push << "still there"
    assert_equal "still there", pull.receive.to_s
  end

  def test_a_waiting_thread_can_be_raised_in
    pull = socket(:PULL, recv_timeout: nil)
    pull.bind("tcp://127.0.0.1:0")
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { pull.receive } }
    waiting = Thread.new { pull.receive }
    waiting.report_on_exception = false
    until_asleep(waiting)
    waiting.raise(IOError, "enough")
    assert_equal "enough", assert_raises(IOError) { waiting.value }.message
  end

  def test_closing_ends_waiting
    pull = socket(:PULL, recv_timeout: nil)
    pull.bind("tcp://127.0.0.1:0")
    waiting = Thread.new { pull.receive }
    waiting.report_on_exception = false
    until_asleep(waiting)
    pull.close
    assert_raises(Sealwire::ClosedError) { waiting.value }
  end

  def test_a_signal_runs_its_handler_and_the_wait_goes_on
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      pull, push = Sealwire::PULL.new(recv_timeout: #{TIMEOUT}), Sealwire::PUSH.new
      push.connect(pull.bind("tcp://127.0.0.1:0"))
      trap("USR1") { push.try_send("sent by the handler") }
      main = Thread.current
      Thread.new do
        Thread.pass until main.status == "sleep"
        Process.kill("USR1", Process.pid)
      end
      puts pull.receive
    RUBY
    assert_equal "sent by the handler\n", output
  end

  def test_ctrl_c_ends_the_wait
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      pull = Sealwire::PULL.new
      pull.bind("tcp://127.0.0.1:0")
      main = Thread.current
      Thread.new do
        Thread.pass until main.status == "sleep"
        Process.kill("INT", Process.pid)
      end
      begin
        pull.receive
      rescue Interrupt
        puts "interrupted"
      end
    RUBY
    assert_equal "interrupted\n", output
  end
end
