# frozen_string_literal: true

require_relative "helper"
require "logger"
require "stringio"

# Failures that are not errors of a call are told.
class TellingTest < SealwireTest
  def setup
    super
    @log = StringIO.new
    Sealwire.logger = Logger.new(@log, formatter: ->(severity, _time, _program, message) { "#{severity} #{message}\n" })
  end

  def teardown
    super
    Sealwire.logger = nil
  end

  # A client with the key of another server, and the server.
  def strangers
    server_security, = securities(:blake3)
    _, client_security = securities(:blake3)
    pull = socket(:PULL, security: server_security)
    push = socket(:PUSH, security: client_security, reconnect_interval: 0.001, send_hwm: 1)
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    [pull, push]
  end

  def told
    Timeout.timeout(TIMEOUT) { Thread.pass while @log.string.empty? }
    @log.string.lines
  end

  def test_a_socket_with_a_wrong_key_says_so_while_it_waits
    _, push = strangers
    monitor = push.monitor
    waiting = Thread.new { push.wait_connected(1, timeout: nil) }
    line, = told
    assert_match(/\AWARN a PUSH waits, and a connection of it failed: tcp:\/\/127\.0\.0\.1:\d+: handshake: /, line)
    # Once for a socket, whatever comes.
    5.times { await(monitor, :failed) }
    assert_equal [line], told
    waiting.kill.join
    failure = await(monitor, :failed).failure
    assert_equal push.connected_endpoints, [failure.endpoint]
    refute_predicate failure, :ready?
    assert_includes line, failure.reason
  end

  def test_a_server_says_so_in_receive
    pull, = strangers
    waiting = Thread.new { pull.receive(timeout: nil) }
    assert_match(/\AWARN a PULL waits, and a connection of it failed: /, told.first)
    waiting.kill.join
  end

  def test_a_failure_before_the_wait_is_told_as_well
    pull, = strangers
    monitor = pull.monitor
    await(monitor, :failed)
    assert_raises(Sealwire::TimeoutError) { pull.receive(timeout: 0.01) }
    assert_equal 1, told.size
  end

  def test_a_peer_that_is_not_there_yet_is_not_told
    push = socket(:PUSH, reconnect_interval: 0.001)
    monitor = push.monitor
    push.connect("tcp://127.0.0.1:1")
    waiting = Thread.new { push.wait_connected(1, timeout: nil) }
    3.times { await(monitor, :failed) }
    waiting.kill.join
    assert_empty @log.string
  end

  def test_callbacks_that_raise
    keys = Sealwire::KeyPair.generate
    security = Sealwire::Security.blake3_server(keys: keys) { raise "in the\ncallback" }
    pull = socket(:PULL, security: security)
    push = socket(:PUSH, security: Sealwire::Security.blake3_client(server_key: keys.public_key))
    monitor = push.monitor
    push.connect(pull.bind("tcp://127.0.0.1:0"))
    await(monitor, :failed)
    assert_equal "WARN an authenticator raised RuntimeError: in the\\ncallback; client refused\n", told.first
  end

  def test_without_a_logger_it_is_printed
    Sealwire.logger = nil
    assert_output("", "sealwire: a line\n") { Sealwire.tell("a line") }
    assert_output("", "sealwire: with \\e in it\n") { Sealwire.tell("with \e in it") }
    Sealwire.logger = Logger.new(nil)
    assert_silent { Sealwire.tell("a line") }
  end

  def test_without_a_logger_it_is_printed_once
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      told = Queue.new
      Warning.extend(Module.new { define_method(:warn) { |text, **| super(text).tap { told << text } } })
      keys = Array.new(2) { Sealwire::KeyPair.generate }
      pull = Sealwire::PULL.new(security: Sealwire::Security.blake3_server(keys: keys[0], allow: :anyone))
      push = Sealwire::PUSH.new(security: Sealwire::Security.blake3_client(server_key: keys[1].public_key))
      monitor = push.monitor
      push.connect(pull.bind("tcp://127.0.0.1:0"))
      Thread.new { push.wait_connected(1, timeout: nil) }
      told.pop
      failures = 0
      failures += 1 if monitor.next.name == :failed until failures == 3
      exit!(true)
    RUBY
    assert_match(/\Asealwire: a PUSH waits, and a connection of it failed: .*\n\z/, output)
    assert_equal 1, output.lines.size
  end

  def test_a_logger_that_fails_fails_nothing
    Sealwire.logger = Object.new.tap { |logger| def logger.warn(_text) = raise("no disk") }
    assert_nil Sealwire.tell("a line")
  end

  # Calls a block with what it is told.
  def listening(&block)
    Sealwire.logger = Object.new.tap { |logger| logger.define_singleton_method(:warn, &block) }
  end

  def test_a_logger_that_fails_ends_no_wait
    asked = 0
    listening do |_text|
      asked += 1
      raise "no disk"
    end
    pull, = strangers
    await(pull.monitor, :failed)
    2.times { assert_raises(Sealwire::TimeoutError) { pull.receive(timeout: 0.01) } }
    assert_equal 1, asked
  end

  def test_a_logger_may_use_the_socket_that_waits
    keys = Sealwire::KeyPair.generate
    pull = socket(:PULL, security: Sealwire::Security.blake3_server(keys: keys, allow: :anyone))
    endpoint = pull.bind("tcp://127.0.0.1:0")
    inner = nil
    listening do |_text|
      push = Sealwire::PUSH.new(security: Sealwire::Security.blake3_client(server_key: keys.public_key))
      push.connect(endpoint)
      push << "first" << "second"
      inner = pull.receive
    end
    waiting = Thread.new { pull.receive }
    push = socket(:PUSH, security: Sealwire::Security.blake3_client(server_key: Sealwire::KeyPair.generate))
    push.connect(endpoint)
    assert_equal %w[second first], [waiting.value, inner].map(&:to_s)
  end

  def test_an_exception_that_ends_the_thread_ends_the_wait
    listening { |_text| Thread.current.kill }
    pull, = strangers
    waiting = Thread.new { pull.receive(timeout: nil) }
    waiting.join
    # Nothing of the wait is left behind.
    Sealwire.logger = Logger.new(nil)
    assert_raises(Sealwire::TimeoutError) { pull.receive(timeout: 0.01) }
  end

  def test_a_logger_that_forks
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      keys = Array.new(2) { Sealwire::KeyPair.generate }
      pull = Sealwire::PULL.new(security: Sealwire::Security.blake3_server(keys: keys[0], allow: :anyone))
      push = Sealwire::PUSH.new(security: Sealwire::Security.blake3_client(server_key: keys[1].public_key))
      push.connect(pull.bind("tcp://127.0.0.1:0"))
      child = nil
      Sealwire.logger = Object.new.tap { |logger| logger.define_singleton_method(:warn) { |_| child = fork } }
      begin
        pull.wait_connected(1, timeout: 0.05) until child != nil || pull.closed?
      rescue Sealwire::TimeoutError
        retry if child.nil?
        Process.wait(child)
        puts "the parent goes on"
      rescue Sealwire::Error => error
        puts error.class
        $stdout.flush
        exit!
      end
    RUBY
    assert_equal "Sealwire::ForkedError\nthe parent goes on\n", output
  end

  def test_other_ractors_print
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      Sealwire.logger = Object.new.tap { |logger| def logger.warn(_) = raise("asked from another Ractor") }
      Ractor.new { Sealwire.tell("a line") }.take
    RUBY
    assert_equal "sealwire: a line\n", output
  end
end
