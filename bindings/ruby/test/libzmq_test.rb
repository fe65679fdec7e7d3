# frozen_string_literal: true

require_relative "helper"
require_relative "libzmq"

class LibzmqTest < SealwireTest
  def setup
    super
    absent "libzmq.so.5 is not installed" unless Libzmq::AVAILABLE
    @server_keys = Sealwire::KeyPair.generate
    @client_keys = Sealwire::KeyPair.generate
  end

  def libzmq(type)
    socket = Libzmq::Socket.new(type, TIMEOUT)
    @sockets << socket
    socket
  end

  # Under CURVE, with the keys of the server or of the client.
  def curve(socket, server:)
    keys = server ? @server_keys : @client_keys
    socket.set(:curve_server, 1) if server
    socket.set(:curve_serverkey, @server_keys.public_key.to_bytes) unless server
    socket.set(:curve_publickey, keys.public_key.to_bytes)
    socket.set(:curve_secretkey, keys.secret_key.to_bytes)
    socket
  end

  def curve_server
    Sealwire::Security.curve_server(keys: @server_keys, allow: { @client_keys.public_key => "libzmq" })
  end

  def curve_client
    Sealwire::Security.curve_client(server_key: @server_keys.public_key, keys: @client_keys)
  end

  def test_every_pair_of_types_with_null
    [%i[PAIR PAIR], %i[PULL PUSH], %i[REP REQ], %i[ROUTER DEALER], %i[DEALER DEALER]].each do |ours, theirs|
      one, other = socket(ours), libzmq(theirs)
      other.connect(one.bind("tcp://127.0.0.1:0"))
      frames = ["a", "", "b" * 300, "c" * 100_000]
      other.send(*frames)
      received = one.receive.frames
      assert_equal frames, received.last(4), "#{ours} and #{theirs}"
      next if ours == :PULL

      one << (ours == :ROUTER ? received : frames)
      assert_equal frames, other.receive
    end
  end

  def test_the_other_way_round_with_null
    rep, req = libzmq(:REP), socket(:REQ)
    req.connect(rep.bind("tcp://127.0.0.1:0"))
    req << "hello"
    assert_equal ["hello"], rep.receive
    rep.send("there")
    assert_equal "there", req.receive.to_s
  end

  def test_publish_and_subscribe_with_null
    publisher, subscriber = socket(:XPUB), libzmq(:SUB)
    subscriber.set(:subscribe, "news")
    subscriber.connect(publisher.bind("tcp://127.0.0.1:0"))
    assert_equal "\x01news".b, publisher.receive.to_s
    publisher << "sport" << "news of today"
    assert_equal ["news of today"], subscriber.receive
    theirs, ours = libzmq(:XPUB), socket(:SUB)
    ours.subscribe("news")
    ours.connect(theirs.bind("tcp://127.0.0.1:0"))
    assert_equal ["\x01news".b], theirs.receive
    theirs.send("news of theirs")
    assert_equal "news of theirs", ours.receive.to_s
  end

  def test_our_server_with_curve
    rep, req = socket(:REP, security: curve_server), curve(libzmq(:REQ), server: false)
    req.connect(rep.bind("tcp://127.0.0.1:0"))
    req.send("sealed", "x" * 100_000)
    request = rep.receive
    assert_equal ["sealed", "x" * 100_000], request.frames
    assert_equal ["libzmq", @client_keys.public_key], [request.peer.user_id, request.peer.public_key]
    rep << "answer"
    assert_equal ["answer"], req.receive
  end

  def test_their_server_with_curve
    rep, req = curve(libzmq(:REP), server: true), socket(:REQ, security: curve_client)
    req.connect(rep.bind("tcp://127.0.0.1:0"))
    req << "sealed"
    assert_equal ["sealed"], rep.receive
    rep.send("answer")
    assert_equal "answer", req.receive.to_s
  end
end
