# frozen_string_literal: true

# ChaCha20-BLAKE3 beside the AEADs of Ruby's OpenSSL, message by message: ruby bench/aead.rb
#
# OpenSSL's ciphers hold the state of one message, so programs make one for each, as the benchmark of
# the gem chacha20blake3 does too. Some use one object again and again; that is measured as well.
require "openssl"
require_relative "measure"

SIZES = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20].freeze

# An AEAD of OpenSSL under one key.
class OpenSslAead
  def initialize(name)
    @name = name
    @key = Random.bytes(32)
    @encryption = OpenSSL::Cipher.new(name).encrypt
    @decryption = OpenSSL::Cipher.new(name).decrypt
    @encryption.key = @decryption.key = @key
  end

  def encrypt(nonce, plaintext)
    cipher = OpenSSL::Cipher.new(@name).encrypt
    cipher.key = @key
    encrypt_with(cipher, nonce, plaintext)
  end

  def encrypt_again(nonce, plaintext)
    encrypt_with(@encryption, nonce, plaintext)
  end

  def decrypt(nonce, sealed)
    cipher = OpenSSL::Cipher.new(@name).decrypt
    cipher.key = @key
    decrypt_with(cipher, nonce, sealed)
  end

  def decrypt_again(nonce, sealed)
    decrypt_with(@decryption, nonce, sealed)
  end

  private

  def encrypt_with(cipher, nonce, plaintext)
    cipher.iv = nonce
    text = cipher.update(plaintext)
    text << cipher.final << cipher.auth_tag
  end

  def decrypt_with(cipher, nonce, sealed)
    cipher.iv = nonce
    cipher.auth_tag = sealed.byteslice(-16, 16)
    text = cipher.update(sealed.byteslice(0, sealed.bytesize - 16))
    text << cipher.final
  end
end

ours = Sealwire::AEAD::Cipher.new(Sealwire::AEAD.generate_key)
poly1305 = OpenSslAead.new("chacha20-poly1305")
gcm = OpenSslAead.new("aes-256-gcm")
long, short = Random.bytes(24), Random.bytes(12)

puts "#{Measure.machine}, #{OpenSSL::OPENSSL_LIBRARY_VERSION}", ""
%i[encrypt decrypt].each do |operation|
  again = :"#{operation}_again"
  puts "| #{operation}, MB/s | ChaCha20-BLAKE3 | ChaCha20-Poly1305 | ratio | AES-256-GCM | ratio " \
       "| Poly1305, one object | ratio | GCM, one object | ratio |"
  puts "|---|---|---|---|---|---|---|---|---|---|"
  SIZES.each do |size|
    plain = Random.bytes(size)
    texts = [plain, plain, plain]
    texts = [ours.encrypt(long, plain), poly1305.encrypt(short, plain), gcm.encrypt(short, plain)] if operation == :decrypt
    seconds = Measure.fastest(
      ours: -> { ours.public_send(operation, long, texts[0]) },
      poly1305: -> { poly1305.public_send(operation, short, texts[1]) },
      gcm: -> { gcm.public_send(operation, short, texts[2]) },
      poly1305_again: -> { poly1305.public_send(again, short, texts[1]) },
      gcm_again: -> { gcm.public_send(again, short, texts[2]) }
    )
    first, *others = seconds.values.map { |time| size / time / 1e6 }
    cells = others.map { |speed| format("%.0f | %.2f", speed, first / speed) }
    puts "| #{Measure.size(size)} | #{first.round} | #{cells.join(" | ")} |"
  end
  puts
end
