# frozen_string_literal: true

require_relative "helper"
require "tmpdir"
require "pathname"

class KeysTest < SealwireTest
  def test_texts_and_bytes_are_read_back
    pair = Sealwire::KeyPair.generate
    key = pair.public_key
    [key.to_s, key.to_z85, key.to_hex, key.to_bytes].each { |text| assert_equal key, Sealwire::PublicKey.new(text) }
    assert_equal [40, 64, 32], [key.to_s.size, key.to_hex.size, key.to_bytes.bytesize]
    secret = pair.secret_key
    [secret, secret.to_z85, secret.to_hex, secret.to_bytes].each do |text|
      assert_equal key, Sealwire::KeyPair.new(text).public_key
    end
  end

  def test_the_public_half_is_that_of_rfc_7748
    pair = Sealwire::KeyPair.new("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    assert_equal "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a", pair.public_key.to_hex
  end

  def test_keys_are_keys_of_hashes
    key = Sealwire::KeyPair.generate.public_key
    assert_equal :found, { key => :found }[Sealwire::PublicKey.new(key.to_s)]
    refute_equal key, Sealwire::KeyPair.generate.public_key
    refute_equal key, key.to_s
  end

  def test_what_is_no_key_is_refused_in_words
    assert_match(/40 characters/, assert_raises(ArgumentError) { Sealwire::PublicKey.new("short") }.message)
    assert_raises(ArgumentError) { Sealwire::PublicKey.new("\xff" * 32) }
    assert_raises(ArgumentError) { Sealwire::SecretKey.new("\xff" * 31) }
    assert_raises(TypeError) { Sealwire::PublicKey.new(nil) }
  end

  def test_secrets_are_not_shown_copied_or_dumped
    pair = Sealwire::KeyPair.generate
    [pair, pair.secret_key].each do |object|
      assert_predicate object, :frozen?
      [object.inspect, object.to_s].each do |shown|
        refute_includes shown, pair.secret_key.to_z85
        refute_includes shown, pair.secret_key.to_hex
      end
      assert_raises(TypeError) { Marshal.dump(object) }
      assert_raises(TypeError) { object.dup }
    end
  end

  def test_files
    Dir.mktmpdir do |folder|
      pair = Sealwire::KeyPair.generate
      public_file, secret_file = pair.write(File.join(folder, "server"))
      assert_equal 0o600, File.stat(secret_file).mode & 0o777
      assert_equal pair.public_key, Sealwire::PublicKey.read(public_file)
      assert_equal pair.public_key, Sealwire::KeyPair.read(Pathname(secret_file)).public_key
      assert_raises(Sealwire::KeyFileError) { pair.write(File.join(folder, "server")) }
      pair.write_czmq(File.join(folder, "czmq"))
      assert_equal pair.public_key, Sealwire::KeyPair.read(File.join(folder, "czmq.key_secret")).public_key
      File.chmod(0o644, secret_file)
      error = assert_raises(Sealwire::KeyFileError) { Sealwire::KeyPair.read(secret_file) }
      assert_match(/may be read by others/, error.message)
    end
  end
end
