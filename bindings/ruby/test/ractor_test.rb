# frozen_string_literal: true

require_relative "helper"

class RactorTest < SealwireTest
  # What a Ractor ends with. The method has another name since Ruby 3.5.
  def result(ractor)
    ractor.respond_to?(:value) ? ractor.value : ractor.take
  end

  def test_ciphers_streams_and_keys_are_shareable
    key, nonce = Sealwire::AEAD.generate_key_and_nonce
    cipher, stream = Sealwire::AEAD::Cipher.new(key), Sealwire::AEAD::Stream.new(key, nonce)
    [cipher, stream, key, Sealwire::KeyPair.generate, Sealwire::Security.plain_text].each { |object| assert Ractor.shareable?(object) }
    ractors = Array.new(3) do
      Ractor.new(cipher, stream, nonce) do |cipher, stream, nonce|
        text = cipher.encrypt(nonce, "from a Ractor", aad: "aad")
        [cipher.decrypt(nonce, text, aad: "aad"), Array.new(100) { stream.encrypt("same") }]
      end
    end
    results = ractors.map { |ractor| result(ractor) }
    assert_equal ["from a Ractor"], results.map(&:first).uniq
    assert_equal 300, results.flat_map(&:last).uniq.size
    assert_equal 300, stream.message_index
  end

  def test_decryption_errors_reach_other_ractors
    cipher = Sealwire::AEAD::Cipher.new(Sealwire::AEAD.generate_key)
    ractor = Ractor.new(cipher) do |cipher|
      cipher.decrypt("n" * 24, "x" * 40)
    rescue Sealwire::AEAD::DecryptionError => error
      error.class.name
    end
    assert_equal "Sealwire::AEAD::DecryptionError", result(ractor)
  end

  def test_a_socket_is_shared
    pull, push = connected(:PULL, :PUSH, mechanism: :blake3)
    Ractor.make_shareable(pull)
    ractors = Array.new(2) { Ractor.new(pull) { |socket| Array.new(50) { socket.receive.to_s } } }
    100.times { |number| push << number.to_s }
    assert_equal 100.times.map(&:to_s), ractors.flat_map { |ractor| result(ractor) }.sort_by(&:to_i)
  end

  def test_messages_go_to_ractors_without_a_copy
    pull, push = connected(:PULL, :PUSH, mechanism: :blake3)
    push << %w[a b]
    message = pull.receive
    assert Ractor.shareable?(message)
    ractor = Ractor.new(message) { |got| [got.frames, got.peer.user_id] }
    assert_equal [%w[a b], "alice"], result(ractor)
  end

  def test_sockets_made_in_a_ractor_with_callbacks_and_errors
    ractor = Ractor.new do
      keys, own = Sealwire::KeyPair.generate, Sealwire::KeyPair.generate
      security = Sealwire::Security.blake3_server(keys: keys) { |client| client.public_key == own.public_key && "own" }
      server = Sealwire::REP.new(security: security, recv_timeout: 60)
      client = Sealwire::REQ.new(
        security: Sealwire::Security.blake3_client(server_key: keys.public_key, keys: own), recv_timeout: 60
      )
      client.connect(server.bind("tcp://127.0.0.1:0"))
      client << "hello"
      request = server.receive
      server << "to #{request.peer.user_id}: #{request}"
      error = begin
        server.receive(timeout: 0)
      rescue Sealwire::TimeoutError => timeout
        timeout.class.name
      end
      answer = client.receive.to_s
      [server, client].each(&:close)
      [answer, error]
    end
    assert_equal ["to own: hello", "Sealwire::TimeoutError"], result(ractor)
  end

  def test_monitors_in_a_ractor
    pull = socket(:PULL)
    monitor = pull.monitor
    ractor = Ractor.new(monitor) { |events| events.next(timeout: 60).name }
    pull.bind("tcp://127.0.0.1:0")
    assert_equal :listening, result(ractor)
  end
end
