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
end
