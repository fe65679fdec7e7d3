# frozen_string_literal: true

require "minitest/autorun"
require "timeout"
require "sealwire"

# Experimental in Ruby, and said so on every first use.
Warning[:experimental] = false

# How long is waited for what should happen, in seconds. Nothing waits as long unless it fails.
TIMEOUT = 60

ROOT = File.expand_path("../../..", __dir__)

class SealwireTest < Minitest::Test
  def setup
    @sockets = []
  end

  def teardown
    @sockets.each(&:close)
  rescue Sealwire::Error
    nil
  end

  # A hang becomes a failure.
  def run
    Timeout.timeout(3 * TIMEOUT) { super }
  end

  # A socket that waits for a finite time, and is closed after the test with nothing sent any more.
  def socket(type, **options)
    socket = Sealwire.const_get(type).new(recv_timeout: TIMEOUT, send_timeout: TIMEOUT, linger: 0, **options)
    @sockets << socket
    socket
  end

  # Two connected sockets: the first is bound and the server of its mechanism.
  def connected(server_type, client_type, mechanism: :null, over: "tcp://127.0.0.1:0", **options)
    server_security, client_security = securities(mechanism)
    server = socket(server_type, security: server_security, **options)
    client = socket(client_type, security: client_security)
    client.connect(server.bind(over))
    [server, client]
  end

  def securities(mechanism)
    keys = Sealwire::KeyPair.generate
    own = Sealwire::KeyPair.generate
    security = Sealwire::Security
    case mechanism
    when :null then [security.plain_text, security.plain_text]
    when :plain
      [security.plain_server(allow: { "alice" => "secret" }),
       security.plain_client(username: "alice", password: "secret")]
    when :curve
      [security.curve_server(keys: keys, allow: { own.public_key => "alice" }),
       security.curve_client(server_key: keys.public_key, keys: own)]
    when :blake3
      [security.blake3_server(keys: keys, allow: { own.public_key => "alice" }),
       security.blake3_client(server_key: keys.public_key, keys: own)]
    end
  end

  # Events of a monitor up to the first of this name, which is returned.
  def await(monitor, name)
    seen = []
    loop do
      event = monitor.next(timeout: TIMEOUT)
      flunk "#{name} did not come, but #{seen}" unless event
      return event if event.name == name

      seen << event.to_s
    end
  end

  # What a test needs and this machine has not.
  def absent(what)
    ENV["CI"] == "true" ? flunk(what) : skip(what)
  end

  # Runs a script in another Ruby and gives what it prints. Nothing it leaves behind lives on.
  def in_another_ruby(script, *arguments, environment: {})
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    output = IO.popen([environment, RbConfig.ruby, "-W:no-experimental", *paths, "-", *arguments], "r+", err: %i[child out]) do |ruby|
      ruby.write(script)
      ruby.close_write
      Timeout.timeout(TIMEOUT) { ruby.read }
    rescue Timeout::Error
      Process.kill(:KILL, ruby.pid)
      raise
    end
    assert_predicate $?, :success?, output
    output
  end
end
