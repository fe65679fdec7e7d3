# frozen_string_literal: true

require "sealwire"

# ChaCha20-BLAKE3 under the names that users of the gem chacha20blake3 know.
ChaCha20Blake3 = Sealwire::AEAD
