# frozen_string_literal: true

require_relative "helper"
require "json"

class BoxTest < SealwireTest
  ANSWERS = JSON.parse(File.read(File.join(ROOT, "vectors/nacl.json")))["box"].transform_values { |text| [text].pack("H*") }
  ALICE, BOB = %w[alice_secret bob_secret].map { |name| Sealwire::KeyPair.new(ANSWERS[name]) }
  NONCE, MESSAGE = ANSWERS.values_at("nonce", "message")
  SEALED = ANSWERS["tag"] + ANSWERS["ciphertext"]

  def test_boxes_are_those_of_the_paper
    ours = Sealwire::Box.new(ALICE, BOB.public_key)
    theirs = Sealwire::Box.new(BOB, ANSWERS["alice_public"])
    assert_equal ANSWERS["shared"], ours.shared_key
    assert_equal ANSWERS["shared"], theirs.shared_key
    [ours, theirs, Sealwire::SecretBox.new(ours.shared_key)].each do |box|
      assert_equal NONCE + SEALED, box.encrypt(MESSAGE, nonce: NONCE)
      assert_equal MESSAGE, box.decrypt(NONCE + SEALED)
      assert_equal MESSAGE, box.decrypt(SEALED, nonce: NONCE)
    end
  end

  def test_what_is_changed_is_not_opened
    box = Sealwire::SecretBox.new(Sealwire::SecretBox.generate_key)
    [0, 1, 5_000, 1_000_000].each do |size|
      text = "x" * size
      sealed = box.encrypt(text)
      assert_equal size + 40, sealed.bytesize
      assert_equal text, box.decrypt(sealed)
      forged = [sealed[0..-2], sealed[0, 24], sealed[0, 39], ""]
      # A byte of the nonce, of the tag, and of the text where there is one.
      forged += [0, 24, sealed.bytesize - 1].map { |at| sealed.dup.tap { |changed| changed.setbyte(at, changed.getbyte(at) ^ 1) } }
      forged.each do |changed|
        error = assert_raises(Sealwire::DecryptionError) { box.decrypt(changed) }
        assert_match(/not authentic/, error.message)
      end
      assert_raises(Sealwire::DecryptionError) { box.decrypt(sealed[24..], nonce: Sealwire::SecretBox.generate_nonce) }
      assert_raises(Sealwire::DecryptionError) { Sealwire::SecretBox.new(Sealwire::SecretBox.generate_key).decrypt(sealed) }
    end
  end

  def test_nonces_and_keys_are_random
    box = Sealwire::Box.new(Sealwire::KeyPair.generate, Sealwire::KeyPair.generate)
    assert_equal 10, Array.new(10) { box.encrypt("the same")[0, Sealwire::Box::NONCE_SIZE] }.uniq.size
    keys = Array.new(10) { Sealwire::SecretBox.generate_key }
    assert_equal [10, [Sealwire::SecretBox::KEY_SIZE]], [keys.uniq.size, keys.map(&:bytesize).uniq]
    assert_equal Sealwire::Box::NONCE_SIZE, Sealwire::Box.generate_nonce.bytesize
  end

  def test_keys_of_low_order_are_refused
    2.times do |first|
      error = assert_raises(Sealwire::WeakKeyError) { Sealwire::Box.new(ALICE, first.chr.b + "\0".b * 31) }
      assert_match(/low order/, error.message)
    end
  end

  def test_sizes_and_types_are_checked
    error = assert_raises(ArgumentError) { Sealwire::SecretBox.new("x" * 31) }
    assert_match(/the key must have 32 bytes, this has 31/, error.message)
    box = Sealwire::SecretBox.new("x" * 32)
    [8, 0, 25].each { |size| assert_raises(ArgumentError) { box.encrypt("text", nonce: "n" * size) } }
    assert_raises(ArgumentError) { box.decrypt("text", nonce: "") }
    assert_raises(ArgumentError) { box.encrypt("text", "nonce") }
    assert_raises(TypeError) { box.encrypt(7) }
    assert_raises(TypeError) { Sealwire::Box.new("s" * 32, BOB.public_key) }
  end

  def test_secrets_are_not_shown
    [Sealwire::Box.new(ALICE, BOB), Sealwire::SecretBox.new(ANSWERS["shared"])].each do |box|
      refute_includes box.inspect.b, ANSWERS["shared"]
      assert_predicate box, :frozen?
      assert_raises(TypeError) { Marshal.dump(box) }
      assert_raises(TypeError) { box.dup }
    end
  end
end
