# frozen_string_literal: true

require_relative "helper"
require "json"

class DeriveKeyTest < SealwireTest
  VECTORS = JSON.parse(File.read(File.join(ROOT, "vectors/blake3-derive-key.json")))

  def test_keys_are_those_of_blake3
    assert_equal 35, VECTORS["cases"].size
    VECTORS["cases"].each do |vector|
      material = Array.new(vector["material_size"]) { |index| index % 251 }.pack("C*")
      [131, 32, 1].each do |length|
        key = Sealwire::AEAD.derive_key(VECTORS["context"], material, length: length)
        assert_equal vector["derived"][0, 2 * length], key.unpack1("H*")
      end
    end
  end
end
