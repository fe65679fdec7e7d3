# frozen_string_literal: true

require_relative "helper"
require "socket"
require "sealwire/omq"

# Protocol::ZMTP::Connection, with itself and with sockets, which have the mechanism in Rust.
class ProtocolTest < SealwireTest
  Crypto = OMQ::Blake3ZMQ::Crypto
  Connection = Protocol::ZMTP::Connection
  Mechanism = Protocol::ZMTP::Mechanism
  Error = Protocol::ZMTP::Error
  Codec = Protocol::ZMTP::Codec

  def setup
    super
    @ios = []
    @server_sk, @client_sk = Crypto::PrivateKey.generate, Crypto::PrivateKey.generate
  end

  def teardown
    super
    @ios.each { |io| io.close unless io.closed? }
  end

  def server(**options)
    Mechanism::Blake3.server(public_key: @server_sk.public_key.to_s, secret_key: @server_sk.to_s, **options)
  end

  def client(**options)
    own = { public_key: @client_sk.public_key.to_s, secret_key: @client_sk.to_s }
    Mechanism::Blake3.client(server_key: @server_sk.public_key.to_s, **own, **options)
  end

  def pair(server, client, types: %w[REP REQ], ios: UNIXSocket.pair, **options)
    @ios.concat(ios)
    [server, client].zip(ios, types).map do |mechanism, io, type|
      Connection.new(io, socket_type: type, mechanism: mechanism, **options)
    end
  end

  # What both sides' handshakes end with: nil or an exception.
  def shake(*connections)
    connections.map do |connection|
      Thread.new do
        connection.handshake!
      rescue Error, EOFError, SystemCallError => error
        connection.close
        error
      end
    end.map(&:value)
  end

  def test_a_connection_of_each_mechanism
    continuous = [server, client].map(&:with_continuous_keystream_unauthenticated_order)
    [[Mechanism::Null.new, Mechanism::Null.new], [server, client], continuous].each do |mechanisms|
      one, other = pair(*mechanisms, identity: "me")
      assert_equal [nil, nil], shake(one, other)
      assert_equal %w[REQ me], [one.peer_socket_type, one.peer_identity]
      assert_equal [3, 1], [one.peer_major, one.peer_minor]
      assert_equal mechanisms[0].encrypted?, one.encrypted?
      assert_equal @client_sk.public_key, one.peer_info.public_key if one.encrypted?
      [[""], ["x" * 300, ""], ["a" * 223], ["a" * 224], %w[two frames]].each do |message|
        other.send_message(message)
        assert_equal message, one.receive_message
        one.send_message(message)
        assert_equal message, other.receive_message
      end
      other.close
      assert_raises(EOFError) { one.receive_message }
    end
  end

  def test_commands
    one, other = pair(server, client, types: %w[PUB SUB])
    shake(one, other)
    other.send_command(Codec::Command.new("SUBSCRIBE", "topic"))
    other.send_command(Codec::Command.new("PING", "\x00\x0Acontext"))
    other.send_message(["end"])
    commands = []
    assert_equal ["end"], one.receive_message { |frame| commands << Codec::Command.from_body(frame.body) }
    assert_equal [%w[SUBSCRIBE topic]], commands.map { |command| [command.name, command.data] }
    # The PONG that answers is not shown.
    one.send_message(["after the answer"])
    assert_equal ["after the answer"], other.receive_message
    assert one.heartbeat_expired?(-1)
    refute one.heartbeat_expired?(TIMEOUT)
  end

  # Sockets of this library, which have all of it in Rust.
  [false, true].each do |continuous|
    define_method(:"test_with_sockets#{"_and_the_continuous_keystream" if continuous}") do
      variant = ->(mechanism) { continuous ? mechanism.with_continuous_keystream_unauthenticated_order : mechanism }
      allow = ->(peer) { peer.public_key == @client_sk.public_key }

      rep = OMQ::REP.new(linger: 0, recv_timeout: TIMEOUT)
      @sockets << rep
      rep.mechanism = variant.call(server(authenticator: allow))
      uri = rep.bind("tcp://127.0.0.1:0")
      connection = Connection.new(TCPSocket.new(uri.host, uri.port), socket_type: "REQ", mechanism: variant.call(client))
      @ios << connection.io
      connection.handshake!
      assert_equal "REP", connection.peer_socket_type
      3.times do |number|
        connection.send_message(["", "question #{number}"])
        assert_equal ["question #{number}"], rep.receive
        rep << ["answer", "x" * 1000]
        assert_equal ["", "answer", "x" * 1000], connection.receive_message
      end

      listener = TCPServer.new("127.0.0.1", 0)
      @ios << listener
      push = OMQ::PUSH.new(linger: 0, send_timeout: TIMEOUT)
      @sockets << push
      push.mechanism = variant.call(client)
      push.connect("tcp://127.0.0.1:#{listener.addr[1]}")
      connection = Connection.new(listener.accept, socket_type: "PULL", mechanism: variant.call(server(authenticator: allow)))
      @ios << connection.io
      connection.handshake!
      assert_equal @client_sk.public_key, connection.peer_public_key
      push << %w[from the socket]
      assert_equal %w[from the socket], connection.receive_message
    end
  end

  # Counts what is asked of it, and has it done by the own primitives.
  module Counting
    CALLS = Hash.new(0)
    CryptoError = Class.new(StandardError)
    PublicKey = Crypto::PublicKey
    TAG_SIZE = 32

    class PrivateKey
      def self.generate = new(Crypto::PrivateKey.generate.to_s)

      def initialize(bytes)
        @key = Crypto::PrivateKey.new(bytes)
      end

      def public_key = @key.public_key
      def to_s = @key.to_s

      def diffie_hellman(peer)
        CALLS[:diffie_hellman] += 1
        @key.diffie_hellman(peer)
      end
    end

    class Cipher
      def initialize(key)
        @cipher = Crypto::Cipher.new(key)
      end

      def encrypt(nonce, text, aad:)
        CALLS[:encrypt] += 1
        @cipher.encrypt(nonce, text, aad: aad)
      end

      def decrypt(nonce, sealed, aad:)
        CALLS[:decrypt] += 1
        @cipher.decrypt(nonce, sealed, aad: aad)
      rescue Crypto::CryptoError
        raise CryptoError
      end
    end

    module Hash
      def self.digest(input) = Crypto::Hash.digest(input)
      def self.derive_key(context, material, size: 32) = Crypto::Hash.derive_key(context, material, size: size)
    end

    def self.random_bytes(size)
      CALLS[:random_bytes] += 1
      Crypto.random_bytes(size)
    end
  end

  def test_primitives_that_are_replaced
    one, other = pair(server(crypto: Counting), client)
    before = Counting::CALLS.dup
    assert_equal [nil, nil], shake(one, other)
    other.send_message(["text"])
    assert_equal ["text"], one.receive_message
    one.send_message(["text"])
    assert_equal ["text"], other.receive_message
    # dh1, dh2 and dh3; WELCOME, READY and a message; HELLO, INITIATE, the vouch and a message; cookie and padding.
    expected = { diffie_hellman: 3, encrypt: 3, decrypt: 4, random_bytes: 2 }
    assert_equal(expected, expected.keys.to_h { |name| [name, Counting::CALLS[name] - before.fetch(name, 0)] })
    error = assert_raises(ArgumentError) { OMQ::REP.new.mechanism = server(crypto: Counting) }
    assert_match(/crypto: replaces the primitives of Protocol::ZMTP::Connection; sockets have their own/, error.message)
    other = Class.new(Module).new
    assert_raises(ArgumentError) { Mechanism::Curve.client(server_key: @server_sk.public_key.to_s, crypto: other) }
  end

  def test_who_is_refused
    one, other = shake(*pair(server(authenticator: ->(_peer) { false }), client))
    assert_equal ["this client is not allowed here", "the peer ends the handshake: this client is not allowed here (not verified)"],
                 [one.message, other.message]
  end

  def test_an_authenticator_sees_the_key_and_the_identity
    seen = nil
    one, other = pair(server(authenticator: ->(peer) { seen = [peer.public_key.to_s, peer.identity] }), client, identity: "me")
    assert_equal [nil, nil], shake(one, other)
    assert_equal [@client_sk.public_key.to_s, "me"], seen
  end

  def test_a_server_with_another_key
    stranger = Mechanism::Blake3.client(server_key: Crypto::PrivateKey.generate.public_key.to_s)
    one, other = shake(*pair(server, stranger))
    assert_match(/HELLO does not open: the peer has another key/, one.message)
    assert_kind_of EOFError, other
  end

  def test_sides_that_do_not_fit
    errors = shake(*pair(server, server))
    assert_match(/both sides are servers of BLAKE3/, errors[0].message)
    errors = shake(*pair(Mechanism::Null.new, client))
    assert_equal "the mechanism is NULL here, and \"BLAKE3\" at the peer", errors[0].message
    errors = shake(*pair(server, client, types: %w[PUB REQ]))
    assert_equal "a PUB and a \"REQ\" do not fit", errors[0].message
    error = assert_raises(NotImplementedError) do
      own = { public_key: @client_sk.public_key.to_s, secret_key: @client_sk.to_s }
      Mechanism::Curve.client(server_key: @server_sk.public_key.to_s, **own).handshake!(nil, socket_type: "REQ")
    end
    assert_match(/speaks NULL and BLAKE3/, error.message)
  end

  def test_data_phases_that_differ
    one, other = pair(server.with_continuous_keystream_unauthenticated_order, client)
    assert_equal [nil, nil], shake(one, other)
    other.send_message(["text"])
    error = assert_raises(Error) { one.receive_message }
    assert_match(/does not verify.*the other data phase/, error.message)
    assert_predicate one.io, :closed?
  end

  # An IO whose writes go through a block.
  class Changing
    def initialize(io, &change)
      @io = io
      @change = change
    end

    def write(bytes) = @io.write(@change.call(bytes))
    def read(size) = @io.read(size)
    def close = @io.close
    def closed? = @io.closed?
  end

  # Both sides' ends of a handshake where one byte of one write of one side changes.
  def shake_changing(side, write, place)
    ios = UNIXSocket.pair
    number = -1
    ios[side] = Changing.new(ios[side]) do |bytes|
      number += 1
      number == write ? bytes.dup.tap { |copy| copy.setbyte(place, copy.getbyte(place) ^ 1) } : bytes
    end
    shake(*pair(server, client, ios: ios))
  end

  # The padding, as-server and filler of the greeting; flags and parts of the commands. Side 0 is the server.
  {
    0 => { 0 => [5, 32, 63], 1 => [0, 5, 20, 60, -1], 2 => [0, 4, 20, -1] },
    1 => { 0 => [5, 32, 63], 1 => [0, 5, 9, 20, 60, 150, -1], 2 => [0, 12, 100, 200, 250, -1] }
  }.each do |side, writes|
    define_method(:"test_bytes_of_the_handshake_that_change_on_the_way_from_the_#{%w[server client][side]}") do
      writes.each do |write, places|
        places.each { |place| refute_equal [nil, nil], shake_changing(side, write, place), "byte #{place} of write #{write}" }
      end
    end
  end

  def test_a_cookie_that_changes
    assert_equal "INITIATE has a cookie of another connection", shake_changing(1, 2, 100)[0].message
  end

  # A client that is let in, whose bytes somebody has recorded.
  def test_a_recording_that_is_played_again
    ours, theirs = UNIXSocket.pair
    recording = []
    recorder = Changing.new(theirs) { |bytes| bytes.tap { recording << bytes } }
    one, other = pair(server, client, ios: [ours, recorder])
    assert_equal [nil, nil], shake(one, other)
    other.send_message(["pay"])
    assert_equal ["pay"], one.receive_message

    ours, theirs = UNIXSocket.pair
    @ios.push(ours, theirs)
    again = Connection.new(ours, socket_type: "REP", mechanism: server)
    answering = Thread.new { shake(again)[0] }
    theirs.write(recording.join)
    assert_equal "INITIATE has a cookie of another connection", answering.value.message
  end

  # Says that it is another than it is.
  Liar = Struct.new(:public_key, :own) do
    def diffie_hellman(peer) = own.diffie_hellman(peer)
  end

  def test_a_client_with_the_public_key_of_another
    ours, theirs = UNIXSocket.pair
    @ios.push(ours, theirs)
    asked = false
    one = Connection.new(ours, socket_type: "REP", mechanism: server(authenticator: ->(_peer) { asked = true }))
    answering = Thread.new { shake(one)[0] }
    handshake = Mechanism::Blake3Handshake.new(Crypto, theirs, socket_type: "REQ", identity: "", metadata: nil)
    liar = Liar.new(@client_sk.public_key, Crypto::PrivateKey.generate)
    assert_raises(EOFError) { handshake.client(liar, @server_sk.public_key) }
    assert_match(/\AVOUCH does not open/, answering.value.message)
    refute asked
  end

  def test_nothing_is_sent_or_received_before_the_handshake
    one, other = pair(Mechanism::Null.new, Mechanism::Null.new)
    [-> { one.send_message(["early"]) }, -> { one.receive_message }].each do |call|
      assert_equal "handshake! comes first", assert_raises(Error, &call).message
    end
    assert_equal [nil, nil], shake(one, other)
    assert_equal "the handshake is done", assert_raises(Error) { one.handshake! }.message
  end

  def test_exceptions_close_the_connection
    one, other = pair(server(authenticator: ->(_peer) { raise "in the authenticator" }), client)
    answering = Thread.new { one.handshake! }
    answering.report_on_exception = false
    assert_kind_of EOFError, shake(other)[0]
    assert_equal "in the authenticator", assert_raises(RuntimeError) { answering.value }.message
    assert_predicate one.io, :closed?

    one, other = pair(server, client)
    assert_equal [nil, nil], shake(one, other)
    reading = Thread.new { one.receive_message }
    Timeout.timeout(TIMEOUT) { Thread.pass until reading.status == "sleep" }
    reading.kill.join
    assert_predicate one.io, :closed?
  end

  def test_secrets_are_not_shown
    one, other = pair(server, client)
    assert_equal [nil, nil], shake(one, other)
    [one, other].each { |connection| assert_match(/Blake3 (server|client)>/, connection.inspect) }
    shown = Mechanism::Blake3Handshake::Secrets.new("material", true)
    refute_includes "#{shown} #{shown.inspect}", "material"
    assert_match(/\A#<[\w:]+>\z/, Mechanism::NumberedFrames.new(Crypto, "client->server", "material").inspect)
  end

  def test_frames_that_change_or_come_twice
    [
      ->(wire) { wire.dup.tap { |copy| copy.setbyte(0, copy.getbyte(0) ^ 1) } },
      ->(wire) { wire.dup.tap { |copy| copy.setbyte(-1, copy.getbyte(-1) ^ 1) } },
      ->(wire) { wire.dup.tap { |copy| copy.setbyte(5, copy.getbyte(5) ^ 1) } },
      ->(_wire) { "".b },
      ->(wire) { wire + wire }
    ].each do |change|
      ours, theirs = UNIXSocket.pair
      on = false
      changing = Changing.new(theirs) { |wire| on ? change.call(wire) : wire }
      one, other = pair(server, client, ios: [ours, changing])
      shake(one, other)
      on = true
      other.send_message(["changed"])
      on = false
      other.send_message(["as it was"])
      assert_raises(Error) { 3.times { one.receive_message } }
      assert_predicate one.io, :closed?
    end
  end

  def test_keys_of_low_order_and_other_spellings
    low = "\0".b * 32
    spelled = (((1 << 255) - 19) + 9).digits(256).pack("C*")
    [low, spelled].each do |key|
      ours, theirs = UNIXSocket.pair
      @ios.push(ours, theirs)
      one = Connection.new(ours, socket_type: "REP", mechanism: server)
      thread = Thread.new { one.handshake! }
      thread.report_on_exception = false
      theirs.write(Codec::Greeting.encode(mechanism: "BLAKE3"))
      theirs.write(Codec::Command.new("HELLO", "\x01\x00".b + key + "\0".b * 192).to_frame.to_wire)
      assert_match(/low order|not canonical/, assert_raises(Error) { thread.value }.message)
    end
  end

  def test_what_is_too_large
    one, other = pair(server, client, max_message_size: 100)
    shake(one, other)
    other.send_message(["x" * 60, "x" * 40])
    assert_equal 100, one.receive_message.sum(&:bytesize)
    other.send_message(["x" * 60, "x" * 41])
    assert_match(/exceeds max_message_size/, assert_raises(Error) { one.receive_message }.message)
    ours, theirs = UNIXSocket.pair
    @ios.push(ours, theirs)
    connection = Connection.new(ours, socket_type: "REP")
    theirs.write(Codec::Greeting.encode + [6, 1 << 40].pack("CQ>"))
    assert_match(/1099511627776 bytes/, assert_raises(Error) { connection.handshake! }.message)
  end

  def test_properties
    one, other = pair(server, client, "X-Name": "value")
    shake(one, other)
    assert_equal "value", one.peer_properties["X-Name"]
    command = Codec::Command
    encoded = command.encode_properties({ "A" => "1", "B" => "" })
    assert_equal({ "A" => "1", "B" => "" }, command.decode_properties(encoded))
    (1...encoded.bytesize).each do |size|
      next if size == 7

      assert_raises(Error, size.to_s) { command.decode_properties(encoded.byteslice(0, size)) }
    end
    assert_raises(Error) { command.decode_properties(command.encode_properties({ "A" => "1" }) + command.encode_properties({ "a" => "2" })) }
  end

  def test_primitives_by_themselves
    assert_equal "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", Crypto::Hash.digest("").unpack1("H*")
    large = "x" * 300_000
    assert_equal Crypto::Hash.digest(large), Sealwire.blake3(large)
    assert_equal @client_sk.diffie_hellman(@server_sk.public_key), @server_sk.diffie_hellman(@client_sk.public_key.to_s)
    # RFC 7748, section 6.1.
    alice, bob, shared = %w[
      77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a
      de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f
      4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742
    ].map { |text| [text].pack("H*") }
    assert_equal shared, Crypto::PrivateKey.new(alice).diffie_hellman(bob)
    assert_equal 32, Crypto.random(32).bytesize
    assert_raises(ArgumentError) { @client_sk.diffie_hellman("\0" * 32) }
    assert_raises(ArgumentError) { @client_sk.diffie_hellman("short") }
    assert_equal 24, Crypto::Hash.derive_key("context", "material", size: 24).bytesize
    refute_includes server.inspect.b, @server_sk.to_s
  end
end
