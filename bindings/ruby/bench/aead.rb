# frozen_string_literal: true

# ChaCha20-BLAKE3 beside the AEADs of Ruby's OpenSSL, message by message: ruby bench/aead.rb
require "openssl"
require_relative "measure"

SIZES = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20].freeze
AAD = "header"

# As programs use it: one object for all messages, and for each a nonce of its own.
class OpenSslAead
  def initialize(name)
    @encryption = OpenSSL::Cipher.new(name).encrypt
    @decryption = OpenSSL::Cipher.new(name).decrypt
    @encryption.key = @decryption.key = Random.bytes(32)
  end

  def encrypt(nonce, plaintext)
    @encryption.iv = nonce
    @encryption.auth_data = AAD
    text = @encryption.update(plaintext)
    text << @encryption.final
    text << @encryption.auth_tag
  end

  def decrypt(nonce, sealed)
    @decryption.iv = nonce
    @decryption.auth_tag = sealed.byteslice(-16, 16)
    @decryption.auth_data = AAD
    text = @decryption.update(sealed.byteslice(0, sealed.bytesize - 16))
    text << @decryption.final
  end
end

ours = Sealwire::AEAD::Cipher.new(Sealwire::AEAD.generate_key)
poly1305 = OpenSslAead.new("chacha20-poly1305")
gcm = OpenSslAead.new("aes-256-gcm")
long, short = Random.bytes(24), Random.bytes(12)

puts "#{Measure.machine}, #{OpenSSL::OPENSSL_LIBRARY_VERSION}", ""
%i[encrypt decrypt].each do |operation|
  puts "| #{operation}, MB/s | ChaCha20-BLAKE3 | ChaCha20-Poly1305 | AES-256-GCM | to Poly1305 | to GCM |"
  puts "|---|---|---|---|---|---|"
  SIZES.each do |size|
    plain = Random.bytes(size)
    sealed = [ours.encrypt(long, plain, aad: AAD), poly1305.encrypt(short, plain), gcm.encrypt(short, plain)]
    blocks =
      if operation == :encrypt
        { ours: -> { ours.encrypt(long, plain, aad: AAD) },
          poly1305: -> { poly1305.encrypt(short, plain) },
          gcm: -> { gcm.encrypt(short, plain) } }
      else
        { ours: -> { ours.decrypt(long, sealed[0], aad: AAD) },
          poly1305: -> { poly1305.decrypt(short, sealed[1]) },
          gcm: -> { gcm.decrypt(short, sealed[2]) } }
      end
    seconds = Measure.fastest(blocks)
    speeds = seconds.values_at(:ours, :poly1305, :gcm).map { |time| size / time / 1e6 }
    ratios = [speeds[0] / speeds[1], speeds[0] / speeds[2]]
    puts format("| %s | %.0f | %.0f | %.0f | %.2f | %.2f |", Measure.size(size), *speeds, *ratios)
  end
  puts
end
