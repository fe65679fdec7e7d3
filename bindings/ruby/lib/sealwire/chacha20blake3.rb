# frozen_string_literal: true

require "sealwire"

if defined?(ChaCha20Blake3) && !ChaCha20Blake3.equal?(Sealwire::AEAD)
  raise LoadError, "sealwire/chacha20blake3 has the name of the gem chacha20blake3, which is loaded already"
end

# ChaCha20-BLAKE3 under the names that users of the gem chacha20blake3 know.
ChaCha20Blake3 = Sealwire::AEAD unless defined?(ChaCha20Blake3)
