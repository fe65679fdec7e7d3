# frozen_string_literal: true

require_relative "helper"
require "logger"
require "open3"
require "stringio"
require "tmpdir"

class RPCTest < SealwireTest
  RPC = Sealwire::RPC

  def setup
    super
    @sides = []
    @log = StringIO.new
    Sealwire.logger = Logger.new(@log, formatter: ->(severity, _time, _program, message) { "#{severity} #{message}\n" })
  end

  def teardown
    @sides.each { |side| side.close(timeout: 1) }
    Sealwire.logger = nil
    super
  end

  def serving(**options, &handler)
    server_security, client_security = securities(:blake3)
    of_client = options.select { |name,| name.start_with?("client_") }
    server = RPC::Server.new(security: server_security, **options.except(*of_client.keys), &handler)
    of_client = of_client.transform_keys { |name| name.to_s.delete_prefix("client_").to_sym }
    client = RPC::Client.new(server.bind("tcp://127.0.0.1:0"), security: client_security, request_timeout: TIMEOUT, **of_client)
    @sides.push(client, server)
    [server, client]
  end

  def until_asleep(thread)
    Timeout.timeout(TIMEOUT) { Thread.pass until thread.status == "sleep" || !thread.alive? }
  end

  def eventually
    Timeout.timeout(TIMEOUT) { Thread.pass until yield }
  end

  def test_a_request_is_answered_and_says_who_asked
    asked = []
    server, client = serving do |request|
      asked << [request.body, request.conn.user_id, request.time_left, request.streams?]
      "you said #{request.body}"
    end
    assert_equal "you said hello", client.request("hello")
    assert_equal "you said #{"x" * 100_000}", client.request("x" * 100_000)
    body, user_id, time_left, streams = asked.first
    assert_equal ["hello", "alice", false], [body, user_id, streams]
    assert_operator time_left, :>, 0
    assert_operator time_left, :<=, TIMEOUT * 9 / 8.0
    assert_equal [2, 2], [server.counters[:requests], client.counters[:calls]]
    conn, = client.connections
    assert_predicate conn, :open?
    assert_kind_of Sealwire::PublicKey, conn.public_key
    assert_match(/\A#<Sealwire::RPC::Conn with .*tcp:/, conn.inspect)
    assert_equal "you said \xff".b, client.conn.request("\xff".b, timeout: TIMEOUT)
    assert_equal Encoding::BINARY, client.request("x").encoding
    assert_equal "alice", server.connections.first.user_id
    assert_operator server.connections.first.account.written, :>, 0
  end

  def test_an_error_reaches_the_caller
    _, client = serving { raise RPC::Status.new(1234, "no such thing", "\0details".b) }
    error = assert_raises(RPC::RemoteError) { client.request("x") }
    assert_equal [1234, "no such thing", "\0details".b, true], [error.code, error.remote_message, error.details, error.may_have_run?]
    assert_match(/no such thing/, error.message)
    assert_kind_of Sealwire::Error, error
    assert_empty @log.string
    [0, 65_536, :no_such_code, "5", nil].each { |code| assert_raises(ArgumentError) { RPC::Status.new(code) } }
  end

  def test_codes_have_names
    _, client = serving { raise RPC::Status.new(:permission_denied, not_started: true) }
    error = assert_raises(RPC::RemoteError) { client.request("x") }
    assert_equal [RPC::Code::PERMISSION_DENIED, "", "", false], [error.code, error.remote_message, error.details, error.may_have_run?]
  end

  def test_a_handler_that_fails_is_reported_here_and_not_told_there
    _, client = serving { raise KeyError, "the secret of\nthis side" }
    error = assert_raises(RPC::RemoteError) { client.request("x") }
    assert_equal RPC::Code::INTERNAL, error.code
    refute_includes error.message, "secret"
    eventually { !@log.string.empty? }
    assert_equal "WARN a handler raised KeyError: the secret of\\nthis side; its caller was told of an internal error\n", @log.string
  end

  def test_what_a_handler_must_not_give_is_an_internal_error
    [nil, 7, :text].each do |reply|
      _, client = serving { reply }
      assert_equal RPC::Code::INTERNAL, assert_raises(RPC::RemoteError) { client.request("x") }.code
    end
  end

  # One thread, which each of these ends, takes the next call all the same.
  def test_a_handler_may_end_its_thread
    _, client = serving(threads: 1) do |request|
      case request.body
      when "stop" then raise Exception, "no StandardError"
      when "exit" then exit
      when "kill" then Thread.current.kill
      when "throw" then throw :nobody
      end
      "still there"
    end
    %w[kill exit throw stop kill exit kill].each do |way|
      assert_equal RPC::Code::INTERNAL, assert_raises(RPC::RemoteError, way) { client.request(way) }.code
      assert_equal "still there", client.request("x")
    end
  end

  def test_nil_is_no_time_limit
    release, arrived = Queue.new, Queue.new
    _, client = serving(client_request_timeout: 0.05) { arrived << true && release.pop }
    client.conn
    endless = Thread.new { client.request("x", timeout: nil) }
    endless.report_on_exception = false
    Timeout.timeout(TIMEOUT) { arrived.pop }
    # Later than a limit of the call before would have ended that.
    assert_raises(RPC::DeadlineExceeded) { client.request("x") }
    2.times { release << "done" }
    assert_equal "done", endless.value
  end

  def test_a_time_limit
    release = Queue.new
    _, client = serving { release.pop }
    client.conn
    error = assert_raises(RPC::DeadlineExceeded) { client.request("x", timeout: 0.05) }
    assert_match(/no answer within the deadline/, error.message)
    assert_raises(ArgumentError) { client.request("x", timeout: -1) }
  ensure
    release.close
  end

  def test_a_call_without_a_limit
    release = Queue.new
    left = Queue.new
    _, client = serving(client_request_timeout: 0.001) do |request|
      left << request.time_left
      release.pop
    end
    waiting = Thread.new { client.request("x", timeout: nil) }
    # The longest that the protocol has.
    assert_operator left.pop, :>, 30 * 86_400
    release << "answer"
    assert_equal "answer", waiting.value
  end

  def test_many_threads_call_at_once
    _, client = serving(&:body)
    threads = Array.new(8) do |number|
      Thread.new { Array.new(50) { |i| client.request("#{number} #{i}") == "#{number} #{i}" } }
    end
    assert_equal [true], threads.flat_map(&:value).uniq
  end

  def test_other_threads_run_while_a_call_waits
    release = Queue.new
    _, client = serving { release.pop }
    waiting = Thread.new { client.request("x") }
    until_asleep(waiting)
    release << "from the other thread"
    assert_equal "from the other thread", waiting.value
  end

  def test_a_call_is_interrupted_and_the_handler_sees_it
    begun, cancelled = Queue.new, Queue.new
    _, client = serving do |request|
      begun << true
      Thread.pass until request.cancelled?
      cancelled << true
      ""
    end
    waiting = lambda do
      thread = Thread.new { client.request("x") }
      thread.report_on_exception = false
      begun.pop
      until_asleep(thread)
      thread
    end
    killed = waiting.call.kill
    assert killed.join(TIMEOUT)
    assert cancelled.pop
    raised = waiting.call
    raised.raise(IOError, "enough")
    assert_equal "enough", assert_raises(IOError) { raised.value }.message
    assert cancelled.pop
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { client.request("x") } }
    assert cancelled.pop
  end

  def test_ctrl_c_ends_a_call
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      keys = Sealwire::KeyPair.generate
      main = Thread.current
      server = Sealwire::RPC::Server.new(security: Sealwire::Security.blake3_server(keys: keys, allow: :anyone)) do |request|
        Thread.pass until main.status == "sleep"
        Process.kill("INT", Process.pid)
        Thread.pass until request.cancelled?
        ""
      end
      client = Sealwire::RPC::Client.new(
        server.bind("tcp://127.0.0.1:0"), security: Sealwire::Security.blake3_client(server_key: keys.public_key)
      )
      begin
        client.request("x", timeout: nil)
      rescue Interrupt
        puts "interrupted"
      end
    RUBY
    assert_equal "interrupted\n", output
  end

  def test_one_way_messages
    received = Queue.new
    _, client = serving(on_message: ->(message) { received << [message.body, message.conn.user_id] }, threads: 1,
                        client_write_timeout: TIMEOUT) { "" }
    # More than the window of a connection.
    3000.times { |number| assert_nil client.send(number.to_s) }
    assert_equal 3000.times.map { |number| [number.to_s, "alice"] }, Array.new(3000) { received.pop }
  end

  def test_a_handler_of_messages_that_fails
    received = Queue.new
    on_message = lambda do |message|
      received << message.body
      raise "lost"
    end
    _, client = serving(on_message: on_message, threads: 1) { "" }
    2.times { client.send("x") }
    assert_equal %w[x x], Array.new(2) { received.pop }
    eventually { !@log.string.empty? }
    assert_equal "WARN a handler of one-way messages raised RuntimeError: lost\n", @log.string
    _, deaf = serving { "answers" }
    deaf.send("nobody takes it")
    assert_equal "answers", deaf.request("x")
  end

  def test_streams_in_both_directions
    _, client = serving do |request|
      total = 0
      request.each do |item|
        total += item.to_i
        request.send("so far #{total}")
      end
      "#{request.streams?} #{total}"
    end
    client.open("sum", timeout: TIMEOUT) do |stream|
      [1, 2, 3].each { |number| stream.send(number.to_s) }
      stream.finish
      assert_equal ["so far 1", "so far 3", "so far 6"], stream.to_a
      assert_nil stream.next
      assert_equal "true 6", stream.answer
      assert_raises(RPC::StreamEnded) { stream.send("late") }
    end
    stream = client.conn.open("sum")
    stream.finish
    assert_equal "true 0", stream.answer
  end

  def test_a_stream_that_is_left_is_cancelled
    gone = Queue.new
    _, client = serving do |request|
      request.send("begun")
      nil while request.next
      gone << request.cancelled?
      ""
    end
    # One that is taken back before its handler has begun is not handled.
    client.open("x") { |stream| stream.next && stream.send("item") }
    assert_equal true, gone.pop
    assert_raises(KeyError) { client.open("x") { |stream| stream.next && raise(KeyError) } }
    assert_equal true, gone.pop
  end

  def test_a_server_calls_its_client
    server, client = serving(client_handler: ->(request) { "alice to #{request.body}" }) do |request|
      "the client says #{request.conn.request("who?", timeout: TIMEOUT)}"
    end
    assert_equal "the client says alice to who?", client.request("x")
    assert_equal "alice to you", server.connections.first.request("you")
  end

  def test_a_client_without_a_handler_serves_nothing
    server, client = serving { "" }
    client.request("x")
    error = assert_raises(RPC::RemoteError) { server.connections.first.request("who?") }
    assert_equal [RPC::Code::UNIMPLEMENTED, false], [error.code, error.may_have_run?]
    messages = Queue.new
    server, client = serving(client_on_message: ->(message) { messages << message.body }) { "" }
    client.request("x")
    error = assert_raises(RPC::RemoteError) { server.connections.first.request("who?") }
    assert_equal [RPC::Code::UNIMPLEMENTED, false], [error.code, error.may_have_run?]
    server.connections.first.send("news")
    assert_equal "news", messages.pop
  end

  # FNV-1a of 32 bits: vectors of its authors, http://www.isthe.com/chongo/src/fnv/test_fnv.c
  def test_numbers_of_methods
    { "" => 0x811c9dc5, "a" => 0xe40c292c, "b" => 0xe70c2de5, "foobar" => 0xbf9cf968 }.each do |name, number|
      assert_equal number, RPC.method_number(name)
    end
  end

  def test_a_block_for_each_method
    server, client = serving
    server.on("greet") { |arguments| "hello #{arguments}" }
    assert_same server, server.on(:who) { |arguments, request| "#{request.conn.user_id}#{arguments}" }
    assert_equal "hello \xff".b, client.call("greet", "\xff")
    assert_equal "alice", client.call(:who, timeout: TIMEOUT)
    server.on("greet") { |_| "good morning" }
    assert_equal "good morning", client.conn.call("greet")
    [["other", "no such method"], [nil, "the body names no method"]].each do |method, text|
      error = assert_raises(RPC::RemoteError) { method ? client.call(method) : client.request("abc") }
      assert_equal [RPC::Code::UNIMPLEMENTED, text, false], [error.code, error.remote_message, error.may_have_run?]
    end
    assert_raises(ArgumentError) { server.on("nothing") }
    whole, = serving { "" }
    assert_raises(Sealwire::StateError) { whole.on("greet") {} }
    # Names that have the same number.
    server.on("costarring") { "" }
    error = assert_raises(ArgumentError) { server.on("liquid") { "" } }
    assert_equal "liquid has the number of costarring: rename one of them", error.message
  end

  def test_too_much_is_turned_away_as_not_started
    release, begun = Queue.new, Queue.new
    _, client = serving(threads: 1, queue: 1, client_retries: 0) do
      begun << true
      release.pop
    end
    call = lambda do
      client.request("x")
    rescue RPC::RemoteError => error
      error
    end
    # The first one runs before the others come: then one waits and four are turned away.
    threads = [Thread.new(&call)]
    begun.pop
    threads.concat(Array.new(5) { Thread.new(&call) })
    eventually { threads.count { |thread| !thread.alive? } == 4 }
    2.times { release << "answer" }
    outcomes = threads.map(&:value)
    assert_equal 2, outcomes.count("answer")
    refused = outcomes - ["answer"]
    assert_equal [[RPC::Code::RESOURCE_EXHAUSTED, false]] * 4, refused.map { |error| [error.code, error.may_have_run?] }
  end

  def test_nobody_there_and_nobody_any_more
    security = Sealwire::Security.blake3_client(server_key: Sealwire::KeyPair.generate)
    RPC::Client.open("tcp://127.0.0.1:1", security: security) do |client|
      refute_predicate assert_raises(RPC::ConnectError) { client.request("x") }, :may_have_run?
    end
    server, client = serving(&:body)
    assert_equal "x", client.request("x")
    assert_equal true, server.shutdown
    refute_predicate assert_raises(RPC::CallError) { client.request("x", timeout: TIMEOUT) }, :may_have_run?
    assert_equal true, client.close
    assert_raises(RPC::ShuttingDown) { client.request("x") }
  end

  def test_a_connection_that_is_lost_in_the_middle
    _, client = serving do |request|
      request.conn.close
      Thread.pass until request.cancelled?
      "too late"
    end
    assert_predicate assert_raises(RPC::ConnectionLost) { client.request("x") }, :may_have_run?
  end

  def test_a_refused_client_learns_why
    keys = Sealwire::KeyPair.generate
    server = RPC::Server.new(security: Sealwire::Security.blake3_server(keys: keys) { nil }) { "" }
    @sides << server
    security = Sealwire::Security.blake3_client(server_key: keys.public_key)
    client = RPC::Client.new(server.bind("tcp://127.0.0.1:0"), security: security)
    @sides << client
    assert_match(/not allowed here/, assert_raises(RPC::ConnectError) { client.request("x") }.message)
  end

  def test_security_is_said
    assert_raises(ArgumentError) { RPC::Client.new("tcp://127.0.0.1:1") }
    assert_raises(ArgumentError) { RPC::Server.new { "" } }
    assert_raises(TypeError) { RPC::Client.new("tcp://127.0.0.1:1", security: nil) }
    assert_raises(TypeError) { RPC::Server.new(security: nil) { "" } }
    server = RPC::Server.new(security: Sealwire::Security.plain_text) { |request| request.conn.public_key.inspect }
    client = RPC::Client.new(server.bind("tcp://127.0.0.1:0"), security: Sealwire::Security.plain_text)
    @sides.push(client, server)
    assert_equal "nil", client.request("x")
  end

  def test_limits
    _, client = serving(max_body: 1000, &:body)
    assert_equal "x" * 1000, client.request("x" * 1000)
    refute_predicate assert_raises(RPC::TooLarge) { client.request("x" * 1001) }, :may_have_run?
    plain = Sealwire::Security.plain_text
    assert_match(/no limit max_bodies/, assert_raises(ArgumentError) { RPC::Client.new("tcp://127.0.0.1:1", security: plain, max_bodies: 1) }.message)
    assert_match(/no limit retries/, assert_raises(ArgumentError) { RPC::Server.new(security: plain, retries: 1) { "" } }.message)
    assert_raises(ArgumentError) { RPC::Server.new(security: plain, handler: ->(_) { "" }) { "" } }
    assert_raises(Sealwire::EndpointError, RPC::CallError) { RPC::Client.new("nowhere", security: plain) }
  end

  def test_every_limit_and_option_is_taken
    times = %i[request_timeout write_timeout read_timeout linger handshake_timeout].to_h { |name| [name, TIMEOUT] }
    sizes = { max_calls: 10, one_way_window: 10, stream_window: 10, max_body: 10, request_budget: 1000, message_budget: 1000,
              answer_budget: 1000, max_connections: 2 }
    server_security, client_security = securities(:blake3)
    server = RPC::Server.new(security: server_security, connection_wait: 1, context: Sealwire::Context.new, **times, **sizes, &:body)
    client = RPC::Client.new(server.bind("tcp://127.0.0.1:0"), security: client_security, calls_per_connection: 2, dial_attempts: 2,
                             dial_timeout: TIMEOUT, retries: 1, **times, **sizes)
    @sides.push(client, server)
    assert_equal "x" * 10, client.request("x" * 10)
    assert_raises(RPC::TooLarge) { client.request("x" * 11) }
  end

  def test_monitors
    server, client = serving(&:body)
    monitors = [server, client].map(&:monitor)
    client.request("x")
    monitors.each { |monitor| assert_includes [:ready], await(monitor, :ready).name }
  end

  def test_a_program_that_ends_delivers_what_it_has_sent
    received = Queue.new
    keys = Sealwire::KeyPair.generate
    server = RPC::Server.new(security: Sealwire::Security.blake3_server(keys: keys, allow: :anyone),
                             on_message: ->(message) { received << message.body }) { "" }
    @sides << server
    in_another_ruby(<<~RUBY, server.bind("tcp://127.0.0.1:0"), keys.public_key.to_hex)
      require "sealwire"
      security = Sealwire::Security.blake3_client(server_key: Sealwire::PublicKey.new(ARGV[1]))
      client = Sealwire::RPC::Client.new(ARGV[0], security: security)
      200.times { |number| client.send(number.to_s + "x" * 10_000) }
    RUBY
    assert_equal 200.times.map { |number| number.to_s + "x" * 10_000 }, Array.new(200) { received.pop }
  end

  def test_threads_of_a_server_that_nobody_has_any_more_end
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      make = lambda do
        security = Sealwire::Security.plain_text
        10.times { Sealwire::RPC::Server.new(security: security, threads: 1) { "" } }
        nil
      end
      make.call
      count = -> { Thread.list.count { |thread| thread.name == "sealwire calls" } }
      100_000.times do
        GC.start
        Thread.pass
        break if count.call < 5
      end
      puts count.call < 5
    RUBY
    assert_equal "true\n", output
  end

  def test_a_child_says_that_clients_stay_with_their_parent
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      keys = Sealwire::KeyPair.generate
      $stdout.sync = true
      server = Sealwire::RPC::Server.new(security: Sealwire::Security.blake3_server(keys: keys, allow: :anyone)) { |request| request.body }
      security = Sealwire::Security.blake3_client(server_key: keys.public_key)
      client = Sealwire::RPC::Client.new(server.bind("tcp://127.0.0.1:0"), security: security)
      puts client.request("before")
      conn = client.conn
      child = fork do
        [-> { client.request("x") }, -> { server.bind("tcp://127.0.0.1:0") }, -> { client.close }, -> { conn.request("x") }].each do |use|
          use.call
        rescue Sealwire::ForkedError => error
          puts error.class
        end
        GC.start
      end
      Process.wait(child)
      puts client.request("after"), $?.success?
    RUBY
    assert_equal "before\n#{"Sealwire::ForkedError\n" * 4}after\ntrue\n", output
  end

  # Within a scheduler other fibers run while a call waits.
  def test_fibers
    require_relative "scheduler"
    _, client = serving(&:body)
    answers = []
    Thread.new do
      Fiber.set_scheduler(MinimalScheduler.new)
      3.times { |number| Fiber.schedule { answers << client.request(number.to_s) } }
    end.join
    assert_equal %w[0 1 2], answers.sort
  end
end
