# frozen_string_literal: true

require_relative "helper"
require "tmpdir"
require "open3"

# The program `sealwire`, which is the Rust API at work, in another process.
class ProgramTest < SealwireTest
  def setup
    super
    @program = ENV["SEALWIRE_PROGRAM"] || File.join(ROOT, "target/release/sealwire")
    absent "the program sealwire is not built: set SEALWIRE_PROGRAM" unless File.executable?(@program)
    @folder = Dir.mktmpdir
    @server_keys, @client_keys = Sealwire::KeyPair.generate, Sealwire::KeyPair.generate
    @server_keys.write(file("server"))
    @client_keys.write(file("client"))
  end

  def teardown
    super
    FileUtils.rm_rf(@folder) if @folder
  end

  def file(name)
    File.join(@folder, name)
  end

  def program(*arguments, input: "")
    output, errors, status = Timeout.timeout(TIMEOUT) { Open3.capture3(@program, *arguments, stdin_data: input) }
    assert_predicate status, :success?, errors
    output
  end

  %w[blake3 curve].each do |mechanism|
    define_method(:"test_its_push_to_our_pull_with_#{mechanism}") do
      security = Sealwire::Security.public_send(
        :"#{mechanism}_server", keys: @server_keys, allow: { @client_keys.public_key => "program" }
      )
      pull = socket(:PULL, security: security)
      endpoint = pull.bind("tcp://127.0.0.1:0")
      program("push", "--connect", endpoint, "--mechanism", mechanism, "--server-key", file("server.pub"),
              "--secret-key-file", file("client.key"), input: "from the program\n")
      message = pull.receive
      assert_equal ["from the program", "program"], [message.to_s, message.peer.user_id]
    end

    define_method(:"test_our_push_to_its_pull_with_#{mechanism}") do
      security = Sealwire::Security.public_send(
        :"#{mechanism}_client", server_key: @server_keys.public_key, keys: @client_keys
      )
      endpoint = "ipc://#{file("socket")}"
      push = socket(:PUSH, security: security, reconnect_interval: 0.01)
      push.connect(endpoint)
      push << "to the program"
      FileUtils.mkdir(file("allowed"))
      FileUtils.cp(file("client.pub"), file("allowed"))
      output = program("pull", "--bind", endpoint, "--mechanism", mechanism, "--server", "--secret-key-file",
                       file("server.key"), "--allow", file("allowed"), "--count", "1")
      assert_includes output, "to the program"
    end
  end

  def with_keys(role)
    ["--mechanism", "blake3", *(role == :server ? ["--server", "--allow", file("allowed")] : ["--server-key", file("server.pub")]),
     "--secret-key-file", file(role == :server ? "server.key" : "client.key")]
  end

  def test_it_calls_our_server
    told = Queue.new
    security = Sealwire::Security.blake3_server(keys: @server_keys, allow: { @client_keys.public_key => "program" })
    server = Sealwire::RPC::Server.new(security: security, on_message: ->(message) { told << [message.body, message.conn.user_id] })
    server.on("greet") { |arguments, request| "#{request.conn.user_id} says #{arguments}" }
    endpoint = server.bind("tcp://127.0.0.1:0")
    calling = ["rpc", "call", "--connect", endpoint, *with_keys(:client)]
    body = [Sealwire::RPC.method_number("greet")].pack("N") + "hello"
    assert_equal "program says hello", program(*calling, input: body)
    assert_empty program(*calling, "--one-way", input: "psst")
    assert_equal %w[psst program], told.pop
    _, errors, status = Open3.capture3(@program, *calling, stdin_data: "other")
    refute_predicate status, :success?
    assert_includes errors, "no such method"
  ensure
    server&.close
  end

  def test_we_call_its_server
    FileUtils.mkdir(file("allowed"))
    FileUtils.cp(file("client.pub"), file("allowed"))
    serving = [@program, "rpc", "serve", "--bind", "tcp://127.0.0.1:0", *with_keys(:server), "--exec", "sh", "--", "-c",
               "read -r line; test \"$line\" = hello && printf '%s' \"you said $line\" || { echo rude >&2; exit 1; }"]
    Open3.popen3(*serving) do |input, _output, errors, running|
      input.close
      endpoint = errors.gets[/listening on (\S+)/, 1]
      security = Sealwire::Security.blake3_client(server_key: @server_keys.public_key, keys: @client_keys)
      Sealwire::RPC::Client.open(endpoint, security: security, request_timeout: TIMEOUT) do |client|
        assert_equal "you said hello", client.request("hello\n")
        error = assert_raises(Sealwire::RPC::RemoteError) { client.request("go away\n") }
        assert_includes error.remote_message, "rude"
        assert_predicate error, :may_have_run?
      end
    ensure
      Process.kill(:TERM, running.pid)
    end
  end
end
