# frozen_string_literal: true

module Protocol
  module ZMTP
    module Mechanism
      # The frames of one direction after the handshake, with a nonce for each: section 5 of
      # docs/spec/blake3zmq.md.
      class NumberedFrames # :nodoc:
        LAST = (1 << 64) - 2

        def initialize(crypto, direction, material)
          prefix = "#{Blake3Handshake::ID} #{direction}"
          @cipher = crypto::Cipher.new(crypto::Hash.derive_key("#{prefix} key", material))
          nonce = crypto::Hash.derive_key("#{prefix} nonce", material, size: 24)
          @fixed = nonce.byteslice(0, 16)
          @base = nonce.byteslice(16, 8).unpack1("Q<")
          @number = 0
        end

        # The number is used up first: no exception can have it used again.
        def encrypt(text, aad:)
          number = nonce
          @number += 1
          @cipher.encrypt(number, text, aad: aad)
        end

        # The number of a frame that does not verify is not used up.
        def decrypt(sealed, aad:)
          text = @cipher.decrypt(nonce, sealed, aad: aad)
          @number += 1
          text
        end

        # Shows no nonces, which are made of the secret.
        def inspect
          "#<#{self.class}>"
        end

        private

        def nonce
          raise Error, "the connection has used all its nonces" if @number > LAST

          @fixed + [(@base + @number) & ((1 << 64) - 1)].pack("Q<")
        end
      end

      # Makes both directions of a connection.
      module Protection # :nodoc:
        module_function

        # Gives what seals and what opens.
        def of(crypto, secrets, continuous:)
          directions = ["client->server", "server->client"]
          directions.reverse! unless secrets.client
          directions.map do |direction|
            next NumberedFrames.new(crypto, direction, secrets.material) unless continuous

            session(crypto, "#{Blake3Handshake::ID} #{direction}", secrets.material)
          end
        end

        # Section 6: one keystream, which goes on from frame to frame.
        def session(crypto, prefix, material)
          keys = ["enc key", "auth key"].map { |name| crypto::Hash.derive_key("#{prefix} #{name}", material) }
          crypto::Session.new(*keys, crypto::Hash.derive_key("#{prefix} nonce", material, size: 8))
        end
      end
    end
  end
end
