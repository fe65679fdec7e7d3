# frozen_string_literal: true

require_relative "helper"

# Metadata of calls and messages, and the trace that goes on in it.
class MetadataTest < SealwireTest
  RPC = Sealwire::RPC
  PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  CHILD = "00-4bf92f3577b34da6a3ce929d0e0e4736-0101010101010101-01"
  STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
  ENTRIES = [["tenant", "blue"], ["hop", "1"], ["hop", "\xff".b]].freeze

  def setup
    super
    @heard = Queue.new
    take = ->(message) { @heard << message }
    server_security, client_security = securities(:blake3)
    @server = RPC::Server.new(security: server_security, on_message: take) { |request| answer(request) }
    @client = RPC::Client.new(@server.bind("tcp://127.0.0.1:0"), security: client_security, request_timeout: TIMEOUT,
                                                                 handler: method(:shown), on_message: take)
  end

  def teardown
    @client.close(timeout: 1)
    @server.close(timeout: 1)
    super
  end

  def shown(request)
    request.metadata.to_a.inspect
  end

  def heard
    Timeout.timeout(TIMEOUT) { @heard.pop }.metadata.to_a
  end

  def answer(request)
    return shown(request) if request.body == "show"

    caller = RPC::TraceContext.of(request.metadata)
    return "no trace" unless caller

    # As a caller back, from a span of its own.
    own = caller.child("\1" * 8)
    request.conn.send("", metadata: own.write)
    streamed = request.conn.open("", metadata: own.write, &:answer)
    streamed + request.conn.request("", metadata: own.write(tenant: "blue"))
  end

  def test_a_call_carries_metadata
    ways = [ENTRIES, { "tenant" => "blue", "hop" => ["1", "\xff".b] }, { tenant: "blue", hop: ["1", "\xff".b] },
            RPC::Metadata.new(ENTRIES)]
    ways.each do |metadata|
      [@client, @client.conn].each do |calling|
        assert_equal ENTRIES.inspect, calling.request("show", metadata: metadata)
        assert_equal ENTRIES.inspect, calling.request("show", metadata: metadata, timeout: TIMEOUT)
        assert_equal(ENTRIES.inspect, calling.open("show", metadata: metadata, &:answer))
        calling.send("", metadata: metadata)
        assert_equal ENTRIES, heard
        calling.send("")
        assert_empty heard
      end
    end
    assert_equal "[]", @client.request("show")
    assert_equal "[]", @client.request("show", metadata: nil)
  end

  def test_methods_get_it_too
    server_security, client_security = securities(:blake3)
    server = RPC::Server.new(security: server_security)
    server.on(:tenant) { |_, request| request.metadata[:tenant] }
    RPC::Client.open(server.bind("tcp://127.0.0.1:0"), security: client_security, request_timeout: TIMEOUT) do |client|
      assert_equal "blue", client.call(:tenant, metadata: { tenant: "blue" })
    end
  ensure
    server&.close
  end

  def test_it_is_read_by_key_and_in_order
    metadata = RPC::Metadata.new(ENTRIES)
    assert_equal ["1", "1", nil], [metadata["hop"], metadata[:hop], metadata["hip"]]
    assert_equal [["1", "\xff".b], []], [metadata.get_all(:hop), metadata.get_all("hip")]
    assert_equal [true, false, false, 3], [metadata.key?("hop"), metadata.key?("hip"), metadata.empty?, metadata.size]
    assert_equal ENTRIES, metadata.to_a
    assert_equal ENTRIES, metadata.each.to_a
    assert_equal %w[tenant hop hop], metadata.map { |key, _| key }
    assert_equal({ "tenant" => "blue", "hop" => "1" }, metadata.to_h)
    assert_equal RPC::Metadata.new(ENTRIES), metadata
    refute_equal RPC::Metadata.new(ENTRIES.first(2)), metadata
    refute_equal ENTRIES, metadata
    assert_predicate RPC::Metadata.new, :empty?
    assert Ractor.shareable?(metadata)
    assert_equal [Encoding::BINARY, true], [metadata["hop"].encoding, metadata["hop"].frozen?]
    # Values may be credentials.
    assert_includes metadata.inspect, "hop"
    refute_includes metadata.inspect, "blue"
  end

  def test_what_metadata_cannot_have_is_refused_before_anything_is_sent
    ["", "Tenant", "a b", "ü", "\xff", "x" * 256].each do |key|
      error = assert_raises(RPC::MetadataError) { @client.request("show", metadata: { key => "blue" }) }
      assert_includes error.message, "is not 1 to 255 of the characters"
    end
    error = assert_raises(RPC::MetadataError) { @client.send("", metadata: { hop: ["x"] * 65 }) }
    assert_includes error.message, "at most 64 entries"
    error = assert_raises(RPC::MetadataError) { @client.open("show", metadata: { key: "x" * 8_187 }) }
    assert_includes error.message, "8193 bytes, and at most 8192"
    assert_operator @client.request("show", metadata: { key: "x" * 8_186 }).size, :>, 8_186
    ["text", 7, ["text"], [["key"]], { key: 7 }, { 7 => "value" }, [["key", nil]], { key: [7] }].each do |wrong|
      assert_raises(TypeError, wrong.inspect) { @client.request("show", metadata: wrong) }
    end
    assert_raises(ArgumentError) { @client.send("", timeout: 1) }
    assert_equal 1, @server.counters[:requests]
  end

  def test_a_handler_continues_the_trace_of_its_caller
    trace = [["traceparent", CHILD], ["tracestate", STATE]]
    answer = trace.inspect + [%w[tenant blue], *trace].inspect
    assert_equal answer, @client.request("pass", metadata: { traceparent: PARENT, tracestate: STATE })
    assert_equal trace, heard
    assert_equal answer, @client.request("pass", metadata: RPC::TraceContext.new(PARENT, STATE).write)
    [{}, { traceparent: "00-1" }, { traceparent: [PARENT, PARENT] }].each do |broken|
      assert_equal "no trace", @client.request("pass", metadata: broken)
    end
  end

  def test_trace_contexts_are_those_of_the_standard
    context = RPC::TraceContext.new(PARENT, STATE)
    assert_equal [PARENT, PARENT, STATE], [context.traceparent, context.to_s, context.tracestate]
    assert_equal %w[4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7], [context.trace_id, context.parent_id].map { |id| id.unpack1("H*") }
    assert_equal [true, false], [context, RPC::TraceContext.new("#{PARENT[..-2]}0")].map(&:sampled?)
    assert_equal RPC::TraceContext.new(PARENT, STATE), context
    refute_equal RPC::TraceContext.new(PARENT), context
    assert_includes context.inspect, PARENT
    assert Ractor.shareable?(context)
    assert_equal context, context.child("\1" * 8).child(context.parent_id)
    one, other = context.child, context.child
    refute_equal one.parent_id, other.parent_id
    assert_equal [context.trace_id, STATE], [one.trace_id, one.tracestate]
    { "55 characters" => -> { RPC::TraceContext.new("00-1") },
      "key=value" => -> { RPC::TraceContext.new(PARENT, "rojo") },
      "stands for no span" => -> { context.child("\0" * 8) },
      "must have 8 bytes" => -> { context.child("\1" * 7) } }.each do |problem, wrong|
      assert_includes assert_raises(ArgumentError, &wrong).message, problem
    end
    # It takes the place of the one that is there, and needs room.
    assert_equal context.write, context.write(RPC::TraceContext.new("#{PARENT[..-2]}0").write)
    assert_raises(RPC::MetadataError) { context.write(hop: ["x"] * 64) }
    long = RPC::TraceContext.new(PARENT, Array.new(32) { |number| "k#{number}=#{"v" * 120}" }.join(","))
    kept = long.write(other: "x" * 7_000)["tracestate"]
    assert_operator kept.size, :<=, 512
    assert long.tracestate.start_with?(kept)
  end
end
