# frozen_string_literal: true

require "rbconfig"
require "socket"
require "tmpdir"
require_relative "helper"

# Endpoints: listening sockets of others, routing ids of one's own choice, queues, and the threads that serve them.
class EndpointsTest < SealwireTest
  def eventually
    Timeout.timeout(TIMEOUT) { Thread.pass until yield }
  end

  # Linux tells which socket has a number, which may be of something else later.
  def what_is_behind(number)
    File.readlink("/proc/self/fd/#{number}")
  rescue SystemCallError
    nil
  end

  def test_a_listening_socket_is_taken_over
    %i[null blake3].product([nil, "/chat"], %i[object number]).each do |mechanism, ws, by|
      server_security, client_security = securities(mechanism)
      pull = socket(:PULL, security: server_security)
      push = socket(:PUSH, security: client_security)
      listener = TCPServer.new("127.0.0.1", 0)
      port = listener.addr[1]
      given = listener
      if by == :number
        listener.autoclose = false
        given = listener.fileno
      end
      what = what_is_behind(listener.fileno)
      bound = pull.bind_listener(given, ws: ws)
      assert_equal ws ? "ws://127.0.0.1:#{port}#{ws}" : "tcp://127.0.0.1:#{port}", bound
      assert_equal [bound], pull.bound_endpoints
      push.connect(bound).send("hello")
      assert_equal "hello", pull.receive.to_s
      if by == :object
        assert_predicate listener, :closed?
      elsif what
        refute_equal what, what_is_behind(given)
      end
    end
  end

  def test_servers_of_calls_and_of_work_take_one_over_too
    server_security, client_security = securities(:blake3)
    [nil, "/calls"].each do |ws|
      server = Sealwire::RPC::Server.new(security: server_security, &:body)
      distributor = Sealwire::Distributor.new(security: server_security)
      server_at, distributor_at = [server, distributor].map do |listening|
        listener = TCPServer.new("127.0.0.1", 0)
        port = listener.addr[1]
        bound = listening.bind_listener(listener, ws: ws)
        assert_equal ws ? "ws://127.0.0.1:#{port}#{ws}" : "tcp://127.0.0.1:#{port}", bound
        assert_predicate listener, :closed?
        unbound = ::Socket.new(:INET, :STREAM)
        assert_raises(Sealwire::ListenerError) { listening.bind_listener(unbound) }
        refute_predicate unbound, :closed?
        unbound.close
        bound
      end
      client = Sealwire::RPC::Client.new(server_at, security: client_security, request_timeout: TIMEOUT)
      assert_equal "hello", client.request("hello")
      worker = Sealwire::Worker.new(distributor_at, security: client_security)
      distributor.add("a task", timeout: TIMEOUT)
      task = worker.take(timeout: TIMEOUT)
      assert_equal "a task", task.body
      task.done
    ensure
      worker&.close(timeout: 0)
      client&.close
      [server, distributor].each { |one| one&.shutdown(timeout: TIMEOUT) }
    end
  end

  def test_the_file_of_a_listener_stays
    Dir.mktmpdir do |folder|
      path = File.join(folder, "socket")
      pull = socket(:PULL)
      bound = pull.bind_listener(UNIXServer.new(path))
      assert_equal "ipc://#{path}", bound
      socket(:PUSH).connect(bound).send("hello")
      assert_equal "hello", pull.receive.to_s
      pull.close
      assert File.socket?(path)
    end
  end

  def test_what_does_not_listen_is_refused_and_stays_open
    pull = socket(:PULL)
    listener = TCPServer.new("127.0.0.1", 0)
    wrong = [::Socket.new(:INET, :STREAM), UDPSocket.new, File.open(File::NULL)]
    wrong.each do |io|
      assert_raises(Sealwire::ListenerError) { pull.bind_listener(io) }
      refute_predicate io, :closed?
      io.close
    end
    assert_raises(ArgumentError) { pull.bind_listener(listener, ws: "/", wss: "/") }
    assert_match(/certificate/, assert_raises(Sealwire::EndpointError) { pull.bind_listener(listener, wss: "/") }.message)
    refute_predicate listener, :closed?
    assert_raises(ArgumentError) { pull.bind_listener(-1) }
    assert_raises(NoMethodError) { pull.bind_listener(nil) }
  ensure
    listener&.close
  end

  # Started with a socket, by a shell in the part of the service manager.
  SERVE = <<~RUBY
    (name, descriptor), = passed = Sealwire.passed_listeners
    abort "not what was passed: \#{passed}" unless passed.size == 1 && name == "web"
    abort "passed on" unless IO.for_fd(descriptor, autoclose: false).close_on_exec?
    begin
      Sealwire.passed_listeners
    rescue Sealwire::ListenerError
      pull = Sealwire::PULL.new(recv_timeout: 60)
      pull.bind_listener(descriptor)
      puts pull.receive
    end
  RUBY

  def started(program, listener, process = "$$")
    manager = "export LISTEN_PID=#{process}; exec \"$@\" 3<&0 0</dev/null"
    environment = { "LISTEN_FDS" => "1", "LISTEN_FDNAMES" => "web" }
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    command = ["sh", "-c", manager, "sh", RbConfig.ruby, *paths, "-r", "sealwire", "-e", program]
    output, input = IO.pipe
    child = Process.spawn(environment, *command, in: listener, out: input, err: %i[child out])
    input.close
    yield if block_given?
    text = Timeout.timeout(TIMEOUT) { output.read }
    Process.wait(child)
    assert_predicate $?, :success?, text
    text
  end

  def test_a_socket_that_a_service_manager_passed_is_served
    assert_empty Sealwire.passed_listeners
    listener = TCPServer.new("127.0.0.1", 0)
    output = started(SERVE, listener) do
      push = socket(:PUSH)
      push.connect("tcp://127.0.0.1:#{listener.addr[1]}").send("hello")
      push.close(linger: TIMEOUT)
    end
    assert_equal "hello\n", output
  ensure
    listener&.close
  end

  def test_sockets_of_another_process_are_refused
    listener = TCPServer.new("127.0.0.1", 0)
    program = "begin; Sealwire.passed_listeners; rescue Sealwire::ListenerError => e; puts e.message; end"
    assert_includes started(program, listener, "1"), "LISTEN_PID is 1"
  ensure
    listener&.close
  end

  def test_a_router_speaks_first_under_a_routing_id_that_it_chose
    left = socket(:ROUTER)
    right = socket(:ROUTER)
    endpoint = right.bind("tcp://127.0.0.1:*")
    left.connect_with_routing_id(endpoint, "right").send(%w[right hello])
    assert_equal "hello", right.receive.to_a.last
    assert_raises(Sealwire::RoutingIdInUseError) { left.connect_with_routing_id(endpoint, "right") }
    ["", "\0x", "x" * 256].each do |wrong|
      assert_raises(Sealwire::OptionError) { left.connect_with_routing_id(endpoint, wrong) }
    end
    assert_raises(Sealwire::UnsupportedError) { socket(:PUSH).connect_with_routing_id(endpoint, "right") }
  end

  def test_messages_wait_where_nobody_is_with_a_queue_per_endpoint
    pull = socket(:PULL)
    late = socket(:PULL)
    push = socket(:PUSH, queue_per_endpoint: true)
    push.connect(pull.bind("tcp://127.0.0.1:*")).connect("inproc://ruby-nobody-yet")
    2.times { push.send("work") }
    late.bind("inproc://ruby-nobody-yet")
    assert_equal %w[work work], [pull, late].map { |one| one.receive.to_s }
  end

  def names_of_threads
    Dir["/proc/self/task/*/comm"].filter_map { |path| File.read(path).chomp rescue nil }
  end

  def test_a_context_has_threads_until_it_is_joined
    return absent("only Linux shows the names of threads") unless RUBY_PLATFORM.include?("linux")

    context = Sealwire::Context.new(io_threads: 2, thread_name: "rb-io")
    names = %w[rb-io-0 rb-io-1]
    eventually { (names - names_of_threads).empty? }
    push = Sealwire::PUSH.new(context: context, linger: TIMEOUT)
    pull = socket(:PULL)
    push.connect(pull.bind("tcp://127.0.0.1:*"))
    1_000.times { push.send("x" * 1_000) }
    reader = Thread.new { Array.new(1_000) { pull.receive.to_s } }
    # Before that its sockets send all that they were given.
    assert_nil context.join
    eventually { (names & names_of_threads).empty? }
    assert_equal 1_000, reader.value.size
    assert_raises(Sealwire::ClosedError) { push.send("late") }
    assert_raises(Sealwire::StateError) { Sealwire::PUSH.new(context: context) }
  end

  def test_a_context_measures_itself
    context = Sealwire::Context.new
    pull = socket(:PULL, context: context)
    socket(:PUSH).connect(pull.bind("tcp://127.0.0.1:*")).send("a message")
    assert_equal "a message", pull.receive.to_s
    numbers = context.metrics.to_h { |metric| [[metric.name, *metric.labels.values], metric.value] }
    assert_equal 1, numbers[%w[sealwire_messages_total 1 PULL in]]
    assert_equal 9, numbers[%w[sealwire_bytes_total 1 PULL in]]
    assert_kind_of Float, numbers[%w[sealwire_context_age_seconds]]
    assert_includes numbers.keys, %w[sealwire_time_in_queue_seconds_count 1 PULL in]
    refute(context.metrics.any? { |metric| metric.labels[:type] == "PUSH" })
    assert(Sealwire.metrics.any? { |metric| metric.labels[:type] == "PUSH" })
    lines = context.prometheus.lines(chomp: true).reject { |line| line.start_with?("#") }
    of_peers = context.metrics.count { |metric| metric.name.start_with?("sealwire_peer_") }
    assert_operator of_peers, :>, 0
    assert_equal context.metrics.size - of_peers, lines.size
    assert_includes lines, 'sealwire_messages_total{socket="1",type="PULL",direction="in"} 1'
    assert_includes context.metrics.map(&:to_s), 'sealwire_messages_total{socket="1",type="PULL",direction="in"} 1'
    assert_includes Sealwire.prometheus, 'type="PUSH"'
    pull.close
    context.join
    assert_raises(Sealwire::StateError) { context.metrics }
  end

  def test_threads_are_those_that_affinity_names
    [0, 65].each { |wrong| assert_raises(Sealwire::OptionError) { Sealwire::Context.new(io_threads: wrong) } }
    context = Sealwire::Context.new(io_threads: 3)
    pull = socket(:PULL, context: context, io_affinity: 4)
    socket(:PUSH).connect(pull.bind("tcp://127.0.0.1:*")).send("work")
    assert_equal "work", pull.receive.to_s
    pull.io_affinity = 8
    assert_raises(Sealwire::OptionError) { pull.bind("tcp://127.0.0.1:*") }
    context.join
  end

  # Binds, and says what the system has for a connection that was accepted.
  def option_of_the_accepted(pull, option)
    monitor = pull.monitor
    socket(:PUSH).connect(pull.bind("tcp://127.0.0.1:*"))
    connection = ::Socket.for_fd(await(monitor, :accepted).descriptor)
    # The descriptor stays the socket's.
    connection.autoclose = false
    connection.getsockopt(:SOCKET, option).int
  end

  def test_the_device_is_polled_or_the_refusal_is_told
    return absent("SO_BUSY_POLL is Linux's") unless RUBY_PLATFORM.include?("linux")

    # Ruby has no name for it in every version.
    busy_poll = 46
    [0, 47].each do |microseconds|
      pull = socket(:PULL, busy_poll: microseconds / 1e6)
      if may_poll?(busy_poll, microseconds)
        assert_equal microseconds, option_of_the_accepted(pull, busy_poll)
      else
        assert_raises(Sealwire::BindError) { pull.bind("tcp://127.0.0.1:*") }
      end
    end
  end

  # Older kernels want a privilege for a longer time than the system's own.
  def may_poll?(option, microseconds)
    plain = ::Socket.new(:INET, :STREAM)
    plain.setsockopt(:SOCKET, option, microseconds)
    true
  rescue Errno::EPERM
    false
  ensure
    plain.close
  end

  def test_the_system_is_told_about_packets
    return absent("SO_PRIORITY is Linux's") unless RUBY_PLATFORM.include?("linux")

    pull = socket(:PULL, packet_priority: 5)
    assert_equal 5, option_of_the_accepted(pull, :PRIORITY)
    assert_raises(Sealwire::OptionError) { pull.packet_priority = 1 << 40 }
  end

  def test_endpoints_have_sources_interfaces_and_paths_that_are_made_up
    return absent("the name of the interface is Linux's") unless RUBY_PLATFORM.include?("linux")

    plain = Sealwire::Security.plain_text
    pull = socket(:PULL, security: plain)
    assert pull.bind("tcp://lo:*").start_with?("tcp://127.0.0.1:")
    tcp = pull.bind("tcp://127.0.0.1:*")
    unix = pull.bind("ipc://*")
    assert File.socket?(unix.delete_prefix("ipc://"))
    [tcp.sub("tcp://", "tcp://127.0.0.3:0;"), unix].each do |endpoint|
      socket(:PUSH, security: plain).connect(endpoint).send("hello")
      message = pull.receive
      assert_equal "hello", message.to_s
      assert message.peer.address.start_with?("tcp://127.0.0.3:") if endpoint.start_with?("tcp")
    end
  end

  def test_sockets_and_servers_share_a_port_if_all_of_them_say_so
    first, second = Array.new(2) { socket(:PULL, reuse_port: true) }
    endpoint = first.bind("tcp://127.0.0.1:0")
    assert_equal endpoint, second.bind(endpoint)
    assert_raises(Sealwire::BindError) { socket(:PULL).bind(endpoint) }

    servers = [true, true, false].map do |shared|
      Sealwire::RPC::Server.new(security: securities(:blake3).first, reuse_port: shared) { |request| request.body }
    end
    endpoint = servers[0].bind("tcp://127.0.0.1:0")
    assert_equal endpoint, servers[1].bind(endpoint)
    assert_raises(Sealwire::BindError) { servers[2].bind(endpoint) }
  ensure
    servers&.each(&:close)
  end
end
