# frozen_string_literal: true

require_relative "helper"

class ProcessTest < SealwireTest
  def test_a_program_may_send_and_return
    pull = socket(:PULL)
    endpoint = pull.bind("tcp://127.0.0.1:0")
    in_another_ruby(<<~RUBY, endpoint)
      require "sealwire"
      push = Sealwire::PUSH.new
      push.connect(ARGV[0])
      50.times { |number| push << number.to_s }
    RUBY
    assert_equal(50.times.map(&:to_s), Array.new(50) { pull.receive.to_s })
  end

  def test_a_socket_that_nobody_has_any_more_sends_what_it_holds
    pull = socket(:PULL)
    endpoint = pull.bind("tcp://127.0.0.1:0")
    in_another_ruby(<<~RUBY, endpoint)
      require "sealwire"
      def leave
        push = Sealwire::PUSH.new
        push.connect(ARGV[0])
        push << "left"
        nil
      end
      10.times { leave }
      GC.start
    RUBY
    assert_equal(["left"] * 10, Array.new(10) { pull.receive.to_s })
  end

  def test_a_program_ends_in_the_middle_of_everything
    # Threads wait, a callback never answers, and a client is about to be decided about.
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      keys = Sealwire::KeyPair.generate
      asked = Queue.new
      security = Sealwire::Security.blake3_server(keys: keys) { asked << true; sleep }
      server = Sealwire::REP.new(security: security, linger: 0)
      endpoint = server.bind("tcp://127.0.0.1:0")
      client = Sealwire::REQ.new(security: Sealwire::Security.blake3_client(server_key: keys.public_key), linger: 0)
      client.connect(endpoint)
      Thread.new { server.receive }.report_on_exception = false
      asked.pop
      puts "done"
    RUBY
    assert_equal "done\n", output
  end

  def test_contexts_have_inproc_names_and_threads_of_their_own
    other = Sealwire::Context.new
    here, there = socket(:PULL), socket(:PULL, context: other)
    [here, there].each { |pull| pull.bind("inproc://one-name") }
    push = socket(:PUSH, context: other)
    push.connect("inproc://one-name")
    push << "to the other context"
    assert_equal "to the other context", there.receive.to_s
    assert_nil here.try_receive
    assert_raises(Sealwire::StateError) { here.context = other }
    assert_raises(TypeError) { Sealwire::PULL.new(context: "other") }
  end

  def test_a_program_with_a_context_of_its_own_may_send_and_return
    pull = socket(:PULL)
    endpoint = pull.bind("tcp://127.0.0.1:0")
    in_another_ruby(<<~RUBY, endpoint)
      require "sealwire"
      push = Sealwire::PUSH.new(context: Sealwire::Context.new)
      push.connect(ARGV[0])
      50.times { |number| push << number.to_s + "x" * 200_000 }
    RUBY
    assert_equal(50.times.map { |number| number.to_s + "x" * 200_000 }, Array.new(50) { pull.receive.to_s })
  end

  def test_a_context_stays_with_the_process_that_made_it
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      context = Sealwire::Context.new
      Process.wait(fork do
        Sealwire::PULL.new(context: context)
      rescue Sealwire::ForkedError
        puts "made before the fork"
        $stdout.flush
      end)
    RUBY
    assert_equal "made before the fork\n", output
  end

  def test_a_child_says_that_sockets_stay_with_their_parent_and_makes_its_own
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      keys = Sealwire::KeyPair.generate
      allow = ->(_client) { "somebody" }
      make = lambda do
        server = Sealwire::REP.new(security: Sealwire::Security.blake3_server(keys: keys, allow: allow), recv_timeout: #{TIMEOUT})
        client = Sealwire::REQ.new(
          security: Sealwire::Security.blake3_client(server_key: keys.public_key), recv_timeout: #{TIMEOUT}
        )
        client.connect(server.bind("tcp://127.0.0.1:0"))
        [server, client]
      end
      talk = lambda do |(server, client)|
        client << "hello"
        name = server.receive.peer.user_id
        server << name
        client.receive.to_s
      end
      $stdout.sync = true
      parents = make.call
      puts "parent: \#{talk.call(parents)}"
      monitor = parents[0].monitor
      child = fork do
        [-> { parents[0].receive }, -> { parents[1] << "x" }, -> { parents[0].close }, -> { monitor.next }].each do |use|
          use.call
        rescue Sealwire::ForkedError => error
          puts "child: \#{error.class}"
        end
        puts "child: \#{talk.call(make.call)}"
        parents = monitor = nil
        GC.start
      end
      Process.wait(child)
      puts "parent: \#{talk.call(parents)} \#{$?.success?}"
    RUBY
    assert_equal <<~TEXT, output
      parent: somebody
      child: Sealwire::ForkedError
      child: Sealwire::ForkedError
      child: Sealwire::ForkedError
      child: Sealwire::ForkedError
      child: somebody
      parent: somebody true
    TEXT
  end
  def test_a_child_is_told_of_the_fork_while_a_thread_of_the_parent_receives
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    output = in_another_ruby(<<~RUBY)
      require "sealwire"
      require "timeout"
      context = Sealwire::Context.new
      server = Sealwire::PULL.new(context: context, recv_timeout: #{TIMEOUT}, linger: 0)
      client = Sealwire::PUSH.new(context: context, send_timeout: #{TIMEOUT}, linger: 0)
      client.connect(server.bind("tcp://127.0.0.1:0"))
      received = Queue.new
      thread = Thread.new { 3.times { received << server.receive.to_s } }
      client << "before"
      puts received.pop
      uses = [
        -> { server.receive }, -> { server.try_receive }, -> { server.wait_readable }, -> { server.monitor },
        -> { server.bind("tcp://127.0.0.1:0") }, -> { client << "x" }, -> { client.try_send("x") },
        -> { client.wait_connected(1) }, -> { Sealwire::PULL.new(context: context).bind("tcp://127.0.0.1:0") }
      ]
      # The thread waits by the first fork, or by one of those that follow.
      10.times do
        child = fork do
          uses.each_with_index do |use, index|
            use.call
            exit!(100 + index)
          rescue Sealwire::ForkedError
            next
          end
        end
        begin
          Timeout.timeout(#{TIMEOUT} - 10) { Process.wait(child) }
        rescue Timeout::Error
          Process.kill(:KILL, child)
          raise
        end
        puts $? unless $?.success?
      end
      client << "between" << "after"
      2.times { puts received.pop }
      thread.join
    RUBY
    assert_equal "before\nbetween\nafter\n", output
  end
end
