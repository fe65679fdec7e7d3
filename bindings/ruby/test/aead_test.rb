# frozen_string_literal: true

require_relative "helper"
require "json"
require "objspace"
require "sealwire/chacha20blake3"

class AeadTest < SealwireTest
  CASES = JSON.parse(File.read(File.join(ROOT, "vectors/chacha20-blake3.json")))["cases"]

  def bytes(vector, *names)
    names.map { |name| [vector[name]].pack("H*") }
  end

  def setup
    super
    @key, @nonce = ChaCha20Blake3.generate_key_and_nonce
    @cipher = ChaCha20Blake3::Cipher.new(@key)
  end

  def test_vectors_of_another_implementation
    refute_empty CASES
    CASES.each do |vector|
      key, nonce, aad, plaintext, ciphertext, tag = bytes(vector, *%w[key nonce aad plaintext ciphertext tag])
      cipher = ChaCha20Blake3::Cipher.new(key)
      assert_equal ciphertext + tag, cipher.encrypt(nonce, plaintext, aad: aad)
      assert_equal [ciphertext, tag], cipher.encrypt_detached(nonce, plaintext, aad: aad)
      assert_equal plaintext, cipher.decrypt(nonce, ciphertext + tag, aad: aad)
      assert_equal plaintext, cipher.decrypt_detached(nonce, ciphertext, tag, aad: aad)
      assert_equal [ciphertext + tag], cipher.encrypt_batch([[nonce, plaintext, aad]])
    end
  end

  def test_constants
    assert_equal [32, 24, 32, 8],
                 [ChaCha20Blake3::KEY_SIZE, ChaCha20Blake3::NONCE_SIZE, ChaCha20Blake3::TAG_SIZE,
                  ChaCha20Blake3::SESSION_NONCE_SIZE]
    assert_operator ChaCha20Blake3::DecryptionError, :<, StandardError
  end

  def test_keys_and_nonces_are_random_frozen_and_binary
    [ChaCha20Blake3.generate_key, ChaCha20Blake3.generate_nonce, @key, @nonce].each do |string|
      assert_predicate string, :frozen?
      assert_equal Encoding::BINARY, string.encoding
    end
    assert_equal [32, 24], [@key.bytesize, @nonce.bytesize]
    refute_equal ChaCha20Blake3.generate_key, ChaCha20Blake3.generate_key
    refute_equal ChaCha20Blake3.generate_nonce, ChaCha20Blake3.generate_nonce
  end

  def test_a_key_is_frozen_when_it_is_used
    key, nonce = @key.dup, @nonce.dup
    ChaCha20Blake3::Cipher.new(key)
    assert_predicate key, :frozen?
    ChaCha20Blake3::Stream.new(key, nonce)
    assert_predicate nonce, :frozen?
  end

  def test_texts_are_binary_and_can_be_changed
    text = @cipher.encrypt(@nonce, "Grüße")
    opened = @cipher.decrypt(@nonce, text)
    assert_equal "Grüße".b, opened
    [text, opened, *@cipher.encrypt_detached(@nonce, "x")].each do |string|
      assert_equal Encoding::BINARY, string.encoding
      refute_predicate string, :frozen?
    end
  end

  def test_every_length_around_the_sizes_of_blocks_and_of_strings_within_objects
    lengths = [*0..70, 127, 128, 129, 1023, 1024, 1025, 4096, 65_537, 1 << 20]
    lengths.each do |length|
      plaintext = Random.bytes(length)
      text = @cipher.encrypt(@nonce, plaintext, aad: "length #{length}")
      assert_equal length + 32, text.bytesize
      assert_equal plaintext, @cipher.decrypt(@nonce, text, aad: "length #{length}")
    end
  end

  def test_what_was_changed_does_not_open
    text = @cipher.encrypt(@nonce, "secret", aad: "right")
    assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt(@nonce, text) }
    assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt(@nonce, text, aad: "wrong") }
    assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt("\0" * 24, text, aad: "right") }
    text.bytesize.times do |at|
      changed = text.dup
      changed.setbyte(at, changed.getbyte(at) ^ 1)
      assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt(@nonce, changed, aad: "right") }
      assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt(@nonce, text[0, at], aad: "right") }
    end
    other = ChaCha20Blake3::Cipher.new(ChaCha20Blake3.generate_key)
    assert_raises(ChaCha20Blake3::DecryptionError) { other.decrypt(@nonce, text, aad: "right") }
  end

  def test_a_forgery_leaves_no_memory_behind
    size = 1 << 20
    text = @cipher.encrypt(@nonce, Random.bytes(size))
    text.setbyte(0, text.getbyte(0) ^ 1)
    large = -> { ObjectSpace.each_object(String).count { |string| ObjectSpace.memsize_of(string) >= size } }
    GC.disable
    before = large.call
    10.times { assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt(@nonce, text) } }
    assert_equal before, large.call
  ensure
    GC.enable
  end

  def test_wrong_sizes_are_errors_of_the_caller
    text, tag = @cipher.encrypt_detached(@nonce, "hi")
    [31, 33].each do |size|
      assert_raises(ArgumentError) { ChaCha20Blake3::Cipher.new("k" * size) }
      assert_raises(ArgumentError) { ChaCha20Blake3::Stream.new("k" * size, @nonce) }
      assert_raises(ArgumentError) { ChaCha20Blake3::Session.new("k" * size, @key, "n" * 8) }
      assert_raises(ArgumentError) { @cipher.decrypt_detached(@nonce, text, "t" * size) }
    end
    [23, 25].each do |size|
      assert_raises(ArgumentError) { @cipher.encrypt("n" * size, "hi") }
      assert_raises(ArgumentError) { @cipher.decrypt("n" * size, text + tag) }
      assert_raises(ArgumentError) { ChaCha20Blake3::Stream.new(@key, "n" * size) }
    end
    assert_match(/the nonce must have 24 bytes, this has 3/, assert_raises(ArgumentError) { @cipher.encrypt("abc", "") }.message)
  end

  def test_wrong_arguments_are_errors_of_the_caller
    assert_raises(ArgumentError) { @cipher.encrypt(@nonce) }
    assert_raises(ArgumentError) { @cipher.encrypt(@nonce, "a", "b") }
    assert_raises(ArgumentError) { @cipher.encrypt(@nonce, "a", add: "b") }
    assert_raises(TypeError) { @cipher.encrypt(@nonce, 7) }
    assert_raises(TypeError) { @cipher.encrypt(@nonce, "a", aad: 7) }
    assert_raises(TypeError) { @cipher.encrypt(@nonce, nil) }
  end

  def test_batches_are_what_single_messages_are
    messages = [[@nonce, "one"], [ChaCha20Blake3.generate_nonce, "", "aad"], [ChaCha20Blake3.generate_nonce, "x" * 5000]]
    sealed = @cipher.encrypt_batch(messages)
    assert_equal(messages.map { |nonce, text, aad| @cipher.encrypt(nonce, text, aad: aad || "") }, sealed)
    opened = messages.zip(sealed).map { |(nonce, _, aad), text| [nonce, text, aad].compact }
    assert_equal messages.map { |message| message[1] }, @cipher.decrypt_batch(opened)
    assert_equal [], @cipher.encrypt_batch([])
    opened[2][1] = opened[2][1].sub(/.\z/mn) { |last| (last.ord ^ 1).chr }
    assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt_batch(opened) }
    assert_raises(ChaCha20Blake3::DecryptionError) { @cipher.decrypt_batch([[@nonce, "short"]]) }
    assert_raises(ArgumentError) { @cipher.encrypt_batch([[@nonce]]) }
    assert_raises(TypeError) { @cipher.encrypt_batch(["message"]) }
  end

  def test_derived_keys
    # From the published test vectors of BLAKE3: an empty input under this context.
    context = "BLAKE3 2019-12-27 16:29:52 test vectors context"
    assert_equal "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d",
                 ChaCha20Blake3.derive_key(context, "").unpack1("H*")
    key = ChaCha20Blake3.derive_key(context, "", length: 64)
    assert_equal 64, key.bytesize
    assert_equal ChaCha20Blake3.derive_key(context, ""), key[0, 32]
    assert_predicate key, :frozen?
    assert_raises(ArgumentError) { ChaCha20Blake3.derive_key(context, "", length: 0) }
    assert_raises(ArgumentError) { ChaCha20Blake3.derive_key(context, "", length: 65_536) }
    assert_raises(ArgumentError) { ChaCha20Blake3.derive_key("\xff", "") }
  end

  def test_no_key_is_shown_or_dumped
    objects = [@cipher, ChaCha20Blake3::Stream.new(@key, @nonce), ChaCha20Blake3::Session.new(@key, @key, "n" * 8)]
    objects.each do |object|
      refute_includes object.inspect.b, @key
      assert_raises(TypeError) { Marshal.dump(object) }
      assert_raises(TypeError) { object.dup }
    end
  end

  def test_texts_survive_a_compacting_collector
    skip "this Ruby cannot move objects" unless GC.respond_to?(:auto_compact=)
    # Ruby 3.1 aborts ("try to mark T_NONE object") where compaction is switched on while a collection marks objects.
    GC.start
    GC.auto_compact = true
    GC.stress = true
    text = @cipher.encrypt(@nonce, "short", aad: "aad")
    assert_equal "short", @cipher.decrypt(@nonce, text, aad: "aad")
    # Strings from `to_str`, which nothing else keeps alive.
    made = Class.new { def initialize(bytes) = @bytes = bytes; def to_str = @bytes.dup }
    texts = ["a", "b" * 100, "c" * 1_000]
    messages = texts.map { |bytes| [@nonce, made.new(bytes), made.new("aad")] }
    sealed = @cipher.encrypt_batch(messages).map { |bytes| [@nonce, made.new(bytes), made.new("aad")] }
    assert_equal texts, @cipher.decrypt_batch(sealed)
  ensure
    GC.stress = false
    GC.auto_compact = false if GC.respond_to?(:auto_compact=)
  end
end

class StreamTest < SealwireTest
  def setup
    super
    @key, @nonce = ChaCha20Blake3.generate_key_and_nonce
    @sealing = ChaCha20Blake3::Stream.new(@key, @nonce)
    @opening = ChaCha20Blake3::Stream.new(@key, @nonce)
  end

  def test_messages_open_in_order_and_once
    texts = %w[first second third].map { |text| @sealing.encrypt(text, aad: "n") }
    assert_equal 3, @sealing.message_index
    assert_raises(ChaCha20Blake3::DecryptionError) { @opening.decrypt(texts[1], aad: "n") }
    assert_equal 0, @opening.message_index
    assert_equal(%w[first second third], texts.map { |text| @opening.decrypt(text, aad: "n") })
    assert_raises(ChaCha20Blake3::DecryptionError) { @opening.decrypt(texts[2], aad: "n") }
    assert_equal 3, @opening.message_index
  end

  def test_the_first_message_has_the_stream_s_own_nonce
    assert_equal ChaCha20Blake3::Cipher.new(@key).encrypt(@nonce, "text"), @sealing.encrypt("text")
  end

  def test_one_object_is_one_side
    @sealing.encrypt("text")
    error = assert_raises(ChaCha20Blake3::DirectionError) { @sealing.decrypt("x" * 40) }
    assert_match(/an object for each direction/, error.message)
    assert_raises(ChaCha20Blake3::DecryptionError) { @opening.decrypt("x" * 40) }
    assert_raises(ChaCha20Blake3::DirectionError) { @opening.encrypt("text") }
  end

  def test_threads_never_share_a_position
    texts = Array.new(4) { Thread.new { Array.new(250) { @sealing.encrypt("same") } } }.flat_map(&:value)
    assert_equal 1000, texts.uniq.size
    assert_equal 1000, @sealing.message_index
  end
end

class SessionTest < SealwireTest
  def setup
    super
    keys = [ChaCha20Blake3.generate_key, ChaCha20Blake3.generate_key, Random.bytes(8)]
    @sealing = ChaCha20Blake3::Session.new(*keys)
    @opening = ChaCha20Blake3::Session.new(*keys)
  end

  def test_the_keystream_runs_on
    texts = ["a" * 100, "b" * 64, ""].map { |text| @sealing.encrypt(text) }
    assert_equal 3, @sealing.block_counter
    assert_equal(["a" * 100, "b" * 64, ""], texts.map { |text| @opening.decrypt(text) })
    assert_equal 3, @opening.block_counter
  end

  def test_a_forgery_does_not_move_it
    text = @sealing.encrypt("hello", aad: "right")
    assert_raises(ChaCha20Blake3::DecryptionError) { @opening.decrypt(text, aad: "wrong") }
    assert_equal 0, @opening.block_counter
    assert_equal "hello", @opening.decrypt(text, aad: "right")
  end

  def test_one_object_is_one_side
    @sealing.encrypt("text")
    assert_raises(ChaCha20Blake3::DirectionError) { @sealing.decrypt("x" * 40) }
    assert_raises(ChaCha20Blake3::DecryptionError) { @opening.decrypt("x" * 40) }
    assert_raises(ChaCha20Blake3::DirectionError) { @opening.encrypt("text") }
    assert_raises(ArgumentError) { ChaCha20Blake3::Session.new("k" * 32, "k" * 32, "n" * 24) }
  end
end
