# frozen_string_literal: true

require "securerandom"

module OMQ
  module Blake3ZMQ
    # The primitives of BLAKE3ZMQ, with keys as 32 raw bytes. `crypto:` takes this module, or another with
    # its names, for connections over an IO.
    module Crypto
      CryptoError = Sealwire::AEAD::DecryptionError
      TAG_SIZE = Sealwire::AEAD::TAG_SIZE
      Cipher = Sealwire::AEAD::Cipher
      Stream = Sealwire::AEAD::Stream
      Session = Sealwire::AEAD::Session

      # The half of a pair that peers may know.
      class PublicKey
        attr_reader :key

        def initialize(bytes)
          @key = Sealwire::PublicKey.new(bytes.to_s.b)
          freeze
        end

        def to_s
          @key.to_bytes
        end

        def ==(other)
          other.is_a?(PublicKey) && key == other.key
        end
        alias eql? ==

        def hash
          @key.hash
        end
      end

      # The half to keep.
      class PrivateKey
        def self.generate
          new(Sealwire::SecretKey.generate.to_bytes)
        end

        def initialize(bytes)
          @keys = Sealwire::KeyPair.new(bytes.to_s.b)
          freeze
        end

        def public_key
          PublicKey.new(@keys.public_key.to_bytes)
        end

        def to_s
          @keys.secret_key.to_bytes
        end

        # X25519 with a peer's public key, a PublicKey or its 32 bytes: the 32 bytes that both sides get.
        # They are input for `Hash.derive_key`, and not a key yet. A key of low order is an ArgumentError.
        def diffie_hellman(peer)
          @keys.diffie_hellman(peer.to_s.b)
        end

        def inspect
          "#<#{self.class}>"
        end
      end

      # BLAKE3.
      module Hash
        module_function

        # 32 bytes.
        def digest(input)
          Sealwire.blake3(input)
        end

        # Derives `size` bytes for one purpose, which `context` names.
        def derive_key(context, material, size: 32)
          Sealwire::AEAD.derive_key(context, material, length: size)
        end
      end

      module_function

      # Bytes of the system's generator.
      def random_bytes(size)
        SecureRandom.random_bytes(size)
      end
      alias random random_bytes
      module_function :random
    end
  end
end
