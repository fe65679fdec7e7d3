# frozen_string_literal: true

module OMQ
  module Blake3ZMQ
    # Keys as 32 raw bytes.
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

        def inspect
          "#<#{self.class}>"
        end
      end
    end
  end
end
