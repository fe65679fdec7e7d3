# frozen_string_literal: true

require_relative "helper"
require "pathname"
require "tmpdir"

# Admission before the handshake, what a ROUTER and a CURVE server ask of clients, and what is held for peers.
class AdmissionTest < SealwireTest
  def around_door(mechanism = :null, admit:)
    Dir.mktmpdir do |folder|
      server_security, client_security = securities(mechanism)
      server = socket(:PULL, security: server_security, admit: admit)
      client = socket(:PUSH, security: client_security)
      monitor = server.monitor
      client.connect(server.bind("ipc://#{folder}/door"))
      yield server, client, monitor
    end
  end

  def own_process
    RUBY_PLATFORM.include?("linux") ? [Process.pid, Process.uid, Process.gid] : nil
  end

  def test_admit_is_told_the_process
    %i[null plain curve blake3].each do |mechanism|
      guests = Queue.new
      admit = lambda do |guest|
        guests << guest
        true
      end
      around_door(mechanism, admit: admit) do |server, client|
        client << "x"
        peer = server.receive.peer
        guest = guests.pop
        [peer.process, guest.process].each do |process|
          own_process.nil? ? assert_nil(process) : assert_equal(own_process, process)
        end
        assert_equal RUBY_PLATFORM.include?("linux") ? Process.groups.sort : [], guest.groups.sort
        assert guest.address.start_with?("ipc://"), guest.address
        assert_predicate guest, :frozen?
      end
    end
  end

  def test_who_is_not_admitted_is_refused
    {
      "this peer is not allowed here" => ->(_guest) {},
      "closed on Sundays" => ->(_guest) { Sealwire::Refusal.new("closed on Sundays") }
    }.each do |reason, admit|
      %i[null plain curve blake3].each do |mechanism|
        around_door(mechanism, admit: admit) do |_server, _client, monitor|
          failure = await(monitor, :failed).failure
          assert_includes %i[refused rejected], failure.cause
          assert_includes failure.reason, reason
        end
      end
    end
  end

  def test_admit_goes_by_the_address_over_tcp
    %i[null plain curve blake3].each do |mechanism|
      guests, refused = Queue.new, ["tcp://127.0.0.1:"]
      admit = lambda do |guest|
        guests << guest
        guest.address.start_with?(*refused) ? Sealwire::Refusal.new("not from there") : true
      end
      server_security, client_security = securities(mechanism)
      server = socket(:PULL, security: server_security, admit: admit)
      monitor = server.monitor
      endpoint = server.bind("tcp://127.0.0.1:0")
      stranger = socket(:PUSH, security: client_security)
      stranger.connect(endpoint)
      event = await(monitor, :failed)
      assert_includes event.failure.reason, "not from there"
      assert event.address.start_with?("tcp://127.0.0.1:"), event.address
      guest = guests.pop
      assert_equal [nil, []], [guest.process, guest.groups]
      stranger.disconnect(endpoint)
      refused.clear
      client = socket(:PUSH, security: client_security)
      client.connect(endpoint)
      client << "x"
      peer = server.receive.peer
      # An attempt of the stranger may still have been under way.
      assert_includes Array.new(guests.size) { guests.pop.address }, peer.address
      assert_nil peer.process
    end
  end

  def test_of_two_addresses_one_is_admitted
    skip "other systems have not all addresses of 127.0.0.0/8" unless RUBY_PLATFORM.include?("linux")

    server_security, client_security = securities(:blake3)
    admit = ->(guest) { guest.address.start_with?("tcp://127.0.0.1:") }
    server = socket(:PULL, security: server_security, admit: admit)
    monitor = server.monitor
    endpoint = server.bind("tcp://127.0.0.1:0")
    other, client = Array.new(2) { socket(:PUSH, security: client_security) }
    other.connect(endpoint.sub("tcp://", "tcp://127.0.0.3:0;"))
    assert await(monitor, :failed).address.start_with?("tcp://127.0.0.3:")
    client.connect(endpoint)
    client << "x"
    assert_equal "x", server.receive.to_s
  end

  def test_what_admit_raises_refuses_and_is_told_here_alone
    raising = {
      "RuntimeError" => ->(_guest) { raise "the database is down\e[2J\xFF" },
      "SystemExit" => ->(_guest) { exit(3) },
      "ArgumentError" => -> { true }
    }
    raising.each do |name, admit|
      _, told = capture_io do
        around_door(admit: admit) do |_server, _client, monitor|
          reason = await(monitor, :failed).reason
          assert_includes reason, "the server could not decide"
          refute_includes reason, "database"
        end
      end
      assert_match(/admit raised #{name}: .*; client refused$/, told)
      refute_match(/\e/, told)
    end
  end

  def test_peers_do_not_choose_how_often_it_is_told
    asked = Queue.new
    admit = lambda do |_guest|
      asked << true
      raise "the database is down"
    end
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    _, told = capture_io do
      Dir.mktmpdir do |folder|
        server, client = socket(:PULL, admit: admit), socket(:PUSH, reconnect_interval: 0.001, reconnect_interval_max: 0.001)
        client.connect(server.bind("ipc://#{folder}/door"))
        100.times { asked.pop }
        [client, server].each(&:close)
      end
    end
    # One a second, and the first at once.
    elapsed = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
    assert_includes 1..(2 + elapsed), told.lines.length, told
  end

  def test_a_thread_that_ends_in_admit_refuses
    around_door(admit: ->(_guest) { Thread.current.kill }) do |_server, _client, monitor|
      assert_includes await(monitor, :failed).reason, "the server could not decide"
    end
  end

  def test_admit_takes_a_callable_or_nothing
    pull = Sealwire::PULL.new(admit: ->(_guest) { true })
    assert_kind_of Sealwire::Authenticator, pull.admit
    other = Sealwire::PULL.new(admit: pull.admit)
    other.bind("tcp://127.0.0.1:0")
    other.close
    pull.admit = nil
    assert_nil pull.admit
    assert_raises(ArgumentError) { pull.admit = :anyone }
    stream = Sealwire::STREAM.new(admit: ->(_guest) { true })
    assert_raises(Sealwire::OptionError) { stream.bind("tcp://127.0.0.1:0") }
  end

  def test_a_routing_id_is_its_owners
    keys, alice = Sealwire::KeyPair.generate, Sealwire::KeyPair.generate
    security = Sealwire::Security.blake3_server(keys: keys, allow: { alice.public_key => "alice" })
    router = socket(:ROUTER, security: security, routing_id_is_user_id: true)
    monitor = router.monitor
    endpoint = router.bind("tcp://127.0.0.1:0")
    as_alice = Sealwire::Security.blake3_client(server_key: keys.public_key, keys: alice)
    socket(:DEALER, security: as_alice, routing_id: "bob").connect(endpoint)
    assert_equal :rejected, await(monitor, :failed).failure.cause
    dealer = socket(:DEALER, security: as_alice, routing_id: "alice")
    dealer.connect(endpoint)
    dealer << "mine"
    assert_equal %w[alice mine], router.receive.frames
  end

  def test_users_come_from_a_file_that_is_read_again
    Dir.mktmpdir do |folder|
      path = Pathname(folder) / "passwords"
      replace = lambda do |content|
        other = Pathname(folder) / "other"
        other.open("w", 0o600) { |file| file.write(content) }
        other.rename(path)
      end
      assert_raises(Sealwire::KeyFileError) { Sealwire::Security.plain_server(allow: path) }
      replace.call("alice secret\n")
      server = socket(:PULL, security: Sealwire::Security.plain_server(allow: path))
      client = socket(:PUSH, security: Sealwire::Security.plain_client(username: "alice", password: "secret"))
      monitor = server.monitor
      client.connect(server.bind("tcp://127.0.0.1:0"))
      client << "x"
      assert_equal "alice", server.receive.peer.user_id
      replace.call("bob secret\n")
      await(monitor, :failed)
    end
  end

  def test_accepting_gaps_is_warned_of
    keys = Sealwire::KeyPair.generate
    security = Sealwire::Security
    server = socket(:PULL, security: security.curve_server_accepting_gaps_unauthenticated_order(keys: keys, allow: :anyone))
    client = socket(
      :PUSH,
      security: security.curve_client_accepting_gaps_unauthenticated_order(
        server_key: keys.public_key, keys: Sealwire::KeyPair.generate
      )
    )
    monitors = [server.monitor, client.monitor]
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client << "x"
    assert_equal "x", server.receive.to_s
    monitors.each { |monitor| assert_includes await(monitor, :warning).reason, "CURVE" }
  end

  def test_connections_are_messages_where_asked_for
    server, client = socket(:SERVER, connection_events: true, omit_routing_id: true), socket(:CLIENT)
    client.connect(server.bind("tcp://127.0.0.1:0"))
    client << "hello"
    began, hello = server.receive, server.receive
    assert_equal [0, [], "", nil], [began.length, began.frames, began.to_s, began[0]]
    assert_equal [["hello"], nil], [hello.frames, hello.routing_id]
    assert_equal hello.peer.connection_routing_id, began.peer.connection_routing_id
    client.close
    assert_equal 0, server.receive.length
  end

  def test_what_is_held_is_on_the_account_of_who_sent_it
    pull, push = connected(:PULL, :PUSH, mechanism: :blake3, recv_hwm: 2)
    10.times { push << "twenty bytes of text" }
    (1000 * TIMEOUT).times { sleep(0.001) if pull.exceeded[:received].zero? }
    peer, *others = pull.accounts
    assert_equal ["alice", []], [peer.user_id, others]
    account = peer.account
    assert_operator account.held[:received], :>=, 40
    assert_equal [0, 0], [account.held[:queued], account.outbound]
    assert_operator account.exceeded[:received], :>, 0
    assert_equal 0, account.exceeded[:arriving]
    assert_operator account.inbound, :>=, account.held[:received]
    assert_operator account.written, :>, 0
    assert_equal account.held.keys, pull.exceeded.keys
    assert_includes account.inspect, "bytes in"
    10.times { pull.receive }
    assert_equal [0], (pull.accounts.map { |sender| sender.account.held[:received] })
    numbers = peer.numbers
    assert_equal [10, 0, 200], numbers.values_at(:messages_received, :inbound_messages, :bytes_received)
    assert_operator numbers[:age], :>, 0.0
    assert_operator numbers[:inbound_most_messages], :>=, 2
  end

  def test_the_end_of_the_engine_has_an_exception
    skip "other systems do not tell what polls" unless RUBY_PLATFORM.include?("linux")
    told = in_another_ruby(<<~RUBY)
      require "sealwire"
      pull = Sealwire::PULL.new
      pull.bind("tcp://127.0.0.1:0")
      leads_to = ->(fd) { File.readlink("/proc/self/fd/\#{fd}") rescue nil }
      pollers = Dir.children("/proc/self/fd").select { |fd| leads_to.call(fd) == "anon_inode:[eventpoll]" }
      null = File.open("/dev/null")
      # Those of the interpreter are not waited on here.
      pollers.each { |fd| IO.for_fd(fd.to_i, autoclose: false).reopen(null) }
      # Wakes the thread, which then polls what cannot be polled.
      begin
        pull.bind("tcp://127.0.0.1:0")
      rescue Sealwire::EngineFailedError
        nil
      end
      [-> { pull.receive }, -> { pull.bind("tcp://127.0.0.1:0") }].each do |attempt|
        attempt.call
      rescue Sealwire::EngineFailedError => error
        puts error.message
      end
      puts "alive"
      $stdout.flush
      exit!(0)
    RUBY
    assert_equal 2, told.scan("the I/O thread of the context ended by a fault").length, told
    assert told.end_with?("alive\n"), told
  end
end
