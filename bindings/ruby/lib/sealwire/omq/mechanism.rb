# frozen_string_literal: true

module OMQ
  # What an authenticator gets to see of a client.
  PeerInfo = Struct.new(:public_key, :identity, keyword_init: true)
end

module Protocol
  module ZMTP
    # How connections are protected. `crypto:` is taken for the sake of programs that give it: the
    # primitives are Sealwire's.
    module Mechanism
      # Behind each of these is a Sealwire::Security.
      class Base
        attr_reader :security

        def initialize(security)
          @security = security
          freeze
        end

        class << self
          private

          def pair(public_key, secret_key)
            keys = Sealwire::KeyPair.new(raw(secret_key, "secret_key"))
            return keys if keys.public_key.to_bytes == raw(public_key, "public_key")

            raise ArgumentError, "public_key does not belong to secret_key"
          end

          def raw(key, name)
            bytes = key.to_s.b
            return bytes if bytes.bytesize == 32

            raise ArgumentError, "#{name} must be 32 bytes (got #{bytes.bytesize})"
          end

          # Without an authenticator, everybody who knows the server's key is let in.
          def allowed(authenticator)
            return :anyone unless authenticator

            lambda do |client|
              key = OMQ::Blake3ZMQ::Crypto::PublicKey.new(client.public_key.to_bytes)
              authenticator.call(OMQ::PeerInfo.new(public_key: key, identity: client.routing_id || "")) ? true : false
            end
          end
        end
      end

      # No encryption and no authentication.
      class Null < Base
        def initialize
          super(Sealwire::Security.plain_text)
        end
      end

      # BLAKE3ZMQ.
      class Blake3 < Base
        def self.server(public_key:, secret_key:, authenticator: nil, crypto: nil)
          keys = pair(public_key, secret_key)
          new(Sealwire::Security.blake3_server(keys: keys, allow: allowed(authenticator)))
        end

        # Without keys the client stays anonymous.
        def self.client(server_key:, public_key: nil, secret_key: nil, crypto: nil)
          raise ArgumentError, "public_key and secret_key go together" if public_key.nil? != secret_key.nil?

          keys = secret_key && pair(public_key, secret_key)
          new(Sealwire::Security.blake3_client(server_key: raw(server_key, "server_key"), keys: keys))
        end
      end

      # CURVE, as libzmq speaks it.
      class Curve < Base
        def self.server(public_key:, secret_key:, authenticator: nil, crypto: nil)
          keys = pair(public_key, secret_key)
          new(Sealwire::Security.curve_server(keys: keys, allow: allowed(authenticator)))
        end

        def self.client(server_key:, public_key: nil, secret_key: nil, crypto: nil)
          raise ArgumentError, "public_key and secret_key go together" if public_key.nil? != secret_key.nil?

          keys = secret_key ? pair(public_key, secret_key) : Sealwire::KeyPair.generate
          new(Sealwire::Security.curve_client(server_key: raw(server_key, "server_key"), keys: keys))
        end
      end
    end
  end
end
