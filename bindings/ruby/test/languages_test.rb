# frozen_string_literal: true

require_relative "helper"
require "fiddle"
require "fiddle/import"
require "open3"

# The APIs of other languages, each with a copy of the library of its own: C's, called from this
# process, and Python's in another. Each is server and client of BLAKE3 and CURVE.
class LanguagesTest < SealwireTest
  MECHANISMS = %i[blake3 curve].freeze

  def setup
    super
    @server_keys, @client_keys = Sealwire::KeyPair.generate, Sealwire::KeyPair.generate
  end

  def our_server(mechanism)
    allow = { @client_keys.public_key => "the other" }
    Sealwire::Security.public_send(:"#{mechanism}_server", keys: @server_keys, allow: allow)
  end

  def our_client(mechanism)
    Sealwire::Security.public_send(:"#{mechanism}_client", server_key: @server_keys.public_key, keys: @client_keys)
  end

  # The part of sealwire.h that the tests use.
  module C
    extend Fiddle::Importer
    LIBRARY = ENV["SEALWIRE_C_LIBRARY"] || File.join(ROOT, "target/release/libsealwire_c.so")
    AVAILABLE = File.exist?(LIBRARY)
    REQ, REP, WAIT = 3, 4, -1
    if AVAILABLE
      dlload LIBRARY
      extern "const char *sealwire_last_error()"
      extern "int sealwire_keys_from_bytes(void *, void *)"
      extern "int sealwire_authenticator_anyone(void *)"
      extern "int sealwire_security_blake3_server(void *, void *, void *)"
      extern "int sealwire_security_blake3_client(void *, void *, void *)"
      extern "int sealwire_security_curve_server(void *, void *, void *)"
      extern "int sealwire_security_curve_client(void *, void *, void *)"
      extern "int sealwire_socket_new(int, void *, void *, void *)"
      extern "int sealwire_socket_bind(void *, const char *, void *)"
      extern "int sealwire_socket_connect(void *, const char *)"
      extern "int sealwire_socket_send_bytes(void *, void *, size_t, long long)"
      extern "int sealwire_socket_recv(void *, long long, void *)"
      extern "void sealwire_socket_free(void *)"
      extern "void *sealwire_message_data(void *)"
      extern "size_t sealwire_message_size(void *)"
      extern "void sealwire_message_free(void *)"
    end

    def self.made(name, *arguments)
      out = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      done(name, *arguments, out)
      out.ptr
    end

    def self.done(name, *arguments)
      status = public_send(:"sealwire_#{name}", *arguments)
      raise "#{name}: #{sealwire_last_error}" unless status.zero?
    end

    def self.receive(socket)
      message = made(:socket_recv, socket, TIMEOUT * 1000)
      sealwire_message_data(message)[0, sealwire_message_size(message)]
    ensure
      sealwire_message_free(message) if message
    end
  end

  def c_socket(type, security)
    absent "the C library is not built: set SEALWIRE_C_LIBRARY" unless C::AVAILABLE
    C.made(:socket_new, type, security.call, nil)
  end

  MECHANISMS.each do |mechanism|
    define_method(:"test_a_client_in_c_with_#{mechanism}") do
      theirs = c_socket(C::REQ, lambda do
        keys = C.made(:keys_from_bytes, @client_keys.secret_key.to_bytes)
        C.made(:"security_#{mechanism}_client", @server_keys.public_key.to_bytes, keys)
      end)
      ours = socket(:REP, security: our_server(mechanism))
      C.done(:socket_connect, theirs, ours.bind("tcp://127.0.0.1:0"))
      C.done(:socket_send_bytes, theirs, "from C", 6, C::WAIT)
      request = ours.receive
      assert_equal ["from C", "the other"], [request.to_s, request.peer.user_id]
      ours << "from Ruby"
      assert_equal "from Ruby", C.receive(theirs)
    ensure
      C.sealwire_socket_free(theirs) if theirs
    end

    define_method(:"test_a_server_in_c_with_#{mechanism}") do
      theirs = c_socket(C::REP, lambda do
        keys = C.made(:keys_from_bytes, @server_keys.secret_key.to_bytes)
        C.made(:"security_#{mechanism}_server", keys, C.made(:authenticator_anyone))
      end)
      endpoint = C.made(:socket_bind, theirs, "tcp://127.0.0.1:0").to_s
      ours = socket(:REQ, security: our_client(mechanism))
      ours.connect(endpoint)
      ours << "from Ruby"
      assert_equal "from Ruby", C.receive(theirs)
      C.done(:socket_send_bytes, theirs, "from C", 6, C::WAIT)
      assert_equal "from C", ours.receive.to_s
    ensure
      C.sealwire_socket_free(theirs) if theirs
    end

    define_method(:"test_python_with_#{mechanism}") do
      python = ENV["SEALWIRE_PYTHON"] || "python3"
      _, _, status = Open3.capture3(python, "-c", "import sealwire")
      absent "#{python} has no sealwire: set SEALWIRE_PYTHON" unless status.success?
      ours = socket(:REP, security: our_server(mechanism))
      # Python is the client of one socket and the server of the other.
      script = <<~PYTHON
        import sys, sealwire
        from sealwire import AllowedKeys, KeyPair, Security, Socket
        endpoint, server, client = sys.argv[1:]
        server, client = KeyPair(server), KeyPair(client)
        with Socket(sealwire.REP, security=Security.#{mechanism}_server(server, AllowedKeys([client.public]))) as rep:
            print(rep.bind("tcp://127.0.0.1:0"), flush=True)
            with Socket(sealwire.REQ, security=Security.#{mechanism}_client(server.public, client)) as req:
                req.connect(endpoint)
                req.send(b"from Python")
                assert req.recv() == b"from Ruby"
            assert rep.recv() == b"from Ruby"
            rep.send(b"from Python")
      PYTHON
      keys = [@server_keys, @client_keys].map { |pair| pair.secret_key.to_z85 }
      arguments = [python, "-c", script, ours.bind("tcp://127.0.0.1:0"), *keys]
      Open3.popen2e(*arguments) do |input, output, running|
        input.close
        endpoint = output.gets.to_s.chomp
        assert_match(/\Atcp:/, endpoint)
        request = ours.receive
        assert_equal ["from Python", "the other"], [request.to_s, request.peer.user_id]
        ours << "from Ruby"
        client = socket(:REQ, security: our_client(mechanism))
        client.connect(endpoint)
        client << "from Ruby"
        assert_equal "from Python", client.receive.to_s
        rest = output.read
        assert_predicate running.value, :success?, rest
      end
    end
  end

  # The trace that a request of Python carries.
  def traced(request)
    trace = Sealwire::RPC::TraceContext.of(request.metadata)
    return "not what Python sent" unless request.metadata[:tenant] == "grün".b && trace.tracestate == "congo=1"

    trace.to_s
  end

  # Python serves calls, calls this side within one, and calls a server here.
  def test_calls_with_python
    python = ENV["SEALWIRE_PYTHON"] || "python3"
    _, _, status = Open3.capture3(python, "-c", "import sealwire")
    absent "#{python} has no sealwire: set SEALWIRE_PYTHON" unless status.success?
    server = Sealwire::RPC::Server.new(security: our_server(:blake3)) do |request|
      raise Sealwire::RPC::Status.new(1001, "not that", "\0more".b) if request.body == "wrong"

      next traced(request) if request.body == "traced"

      request.each { |item| request.send(item * 2) } if request.streams?
      "#{request.conn.user_id} asked #{request.body}"
    end
    script = <<~PYTHON
      import sys
      from sealwire import AllowedKeys, KeyPair, Security, rpc
      endpoint, server, client = sys.argv[1:]
      server, client = KeyPair(server), KeyPair(client)

      def handler(request):
          if request.has_streams:
              for item in iter(request.next, None):
                  request.send(item.upper())
          if request.body == b"traced":
              caller = rpc.TraceContext.of(request.metadata)
              assert request.metadata["tenant"] == b"\\xff" and caller.tracestate == "congo=1"
              return request.conn.request(b"traced", metadata=caller.child(bytes([1] * 8)).write({"tenant": "gr\\u00fcn"}))
          if request.body == b"fail":
              raise rpc.Status(rpc.Code.NOT_FOUND, "nothing", b"details", not_started=True)
          return b"Python heard " + request.conn.request(b"from whom?")

      with rpc.Client(endpoint, Security.blake3_client(server.public, client)) as calling:
          assert calling.request(b"a question") == b"the other asked a question"
          trace = rpc.TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-0101010101010101-01", "congo=1")
          assert calling.request(b"traced", metadata=trace.write({"tenant": "gr\\u00fcn"})) == str(trace).encode()
          try:
              calling.request(b"wrong")
          except rpc.RemoteError as error:
              assert (error.code, error.message, error.details, error.may_have_run) == (1001, "not that", b"\\0more", True)
          else:
              assert False
          with calling.open(b"items") as stream:
              stream.send(b"a")
              stream.send(b"b")
              stream.finish()
              assert list(stream) == [b"aa", b"bb"]
              assert stream.answer() == b"the other asked items"
      security = Security.blake3_server(server, AllowedKeys([client.public]))
      with rpc.Server(security, handler) as serving:
          print(serving.bind("tcp://127.0.0.1:0"), flush=True)
          sys.stdin.readline()
    PYTHON
    keys = [@server_keys, @client_keys].map { |pair| pair.secret_key.to_z85 }
    Open3.popen2e(python, "-c", script, server.bind("tcp://127.0.0.1:0"), *keys) do |input, output, running|
      endpoint = output.gets.to_s.chomp
      assert_match(/\Atcp:/, endpoint)
      handler = ->(request) { request.body == "traced" ? traced(request) : "Ruby, #{request.body}" }
      Sealwire::RPC::Client.open(endpoint, security: our_client(:blake3), handler: handler, request_timeout: TIMEOUT) do |client|
        assert_equal "Python heard Ruby, from whom?", client.request("x")
        trace = Sealwire::RPC::TraceContext.new("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "congo=1")
        answer = client.request("traced", metadata: trace.write(tenant: "\xff".b))
        assert_equal trace.child("\1" * 8).to_s, answer
        error = assert_raises(Sealwire::RPC::RemoteError) { client.request("fail", timeout: TIMEOUT) }
        assert_equal [5, "nothing", "details", false], [error.code, error.remote_message, error.details, error.may_have_run?]
        client.open("x") do |stream|
          stream.send("item")
          stream.finish
          assert_equal ["ITEM"], stream.to_a
          assert_equal "Python heard Ruby, from whom?", stream.answer
        end
      end
      input.puts
      rest = output.read
      assert_predicate running.value, :success?, rest
    end
  ensure
    server&.close
  end
end
