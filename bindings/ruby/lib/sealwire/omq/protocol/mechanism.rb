# frozen_string_literal: true

module Protocol
  module ZMTP
    # How connections are protected: those of a socket, which takes the `security` of one, and those of a
    # Connection, which takes a copy of it for its handshake and its frames.
    module Mechanism
      # No encryption and no authentication.
      class Null
        def security
          Sealwire::Security.plain_text
        end

        def encrypted?
          false
        end

        # Gives a Hash of what is known of the peer.
        def handshake!(io, socket_type:, identity: "", metadata: nil, as_server: false)
          NullHandshake.new(io, socket_type: socket_type, identity: identity, metadata: metadata).run
        end
      end

      # What mechanisms with keys have in common.
      module Keyed # :nodoc:
        private

        def check(key, name)
          bytes = key.to_s.b
          return bytes if bytes.bytesize == 32

          raise ArgumentError, "#{name} must be 32 bytes (got #{bytes.bytesize})"
        end

        # The secret key, once it is known to belong to the public one.
        def check_pair(public_key, secret_key, crypto)
          raise ArgumentError, "public_key and secret_key go together" if public_key.nil? || secret_key.nil?

          keys = crypto::PrivateKey.new(check(secret_key, "secret_key"))
          return keys if keys.public_key.to_s == check(public_key, "public_key")

          raise ArgumentError, "public_key does not belong to secret_key"
        end

        # Without an authenticator, everybody who knows the server's key is let in.
        def allowed(authenticator)
          return :anyone unless authenticator

          lambda do |client|
            key = OMQ::Blake3ZMQ::Crypto::PublicKey.new(client.public_key.to_bytes)
            authenticator.call(PeerInfo.new(public_key: key, identity: client.routing_id || "")) ? true : false
          end
        end
      end

      # BLAKE3ZMQ. `crypto:` replaces the primitives of connections over an IO: a module with the names of
      # OMQ::Blake3ZMQ::Crypto. Sockets have their own primitives and refuse it.
      class Blake3
        include Keyed

        def self.server(public_key:, secret_key:, authenticator: nil, crypto: nil)
          new(public_key: public_key, secret_key: secret_key, authenticator: authenticator, crypto: crypto, as_server: true)
        end

        # Without keys the client stays anonymous.
        def self.client(server_key:, public_key: nil, secret_key: nil, crypto: nil)
          new(server_key: server_key, public_key: public_key, secret_key: secret_key, crypto: crypto)
        end

        def initialize(public_key: nil, secret_key: nil, server_key: nil, crypto: nil, as_server: false, authenticator: nil)
          @crypto = crypto || OMQ::Blake3ZMQ::Crypto
          @as_server = as_server
          @authenticator = authenticator
          @server_key = check(server_key, "server_key") unless as_server
          @keys = check_pair(public_key, secret_key, @crypto) if as_server || public_key || secret_key
          @continuous = false
        end

        # The same with the data phase of a later draft, for peers that speak nothing else: someone on the way
        # can drop, repeat and reorder frames, and nobody notices. Off unless both sides ask for it.
        def with_continuous_keystream_unauthenticated_order
          dup.tap { |other| other.instance_variable_set(:@continuous, true) }
        end

        # For sockets.
        def security
          unless @crypto.equal?(OMQ::Blake3ZMQ::Crypto)
            raise ArgumentError, "crypto: replaces the primitives of Protocol::ZMTP::Connection; sockets have their own: leave it out"
          end

          security = @as_server ? server_security : client_security
          @continuous ? security.with_continuous_keystream_unauthenticated_order : security
        end

        def encrypted?
          true
        end

        # Gives a Hash of what is known of the peer. Once for an object; `dup` makes another. The role is that of the
        # mechanism, whatever `as_server` says.
        def handshake!(io, socket_type:, identity: "", metadata: nil, as_server: nil)
          raise Error, "this mechanism serves a connection already: dup it" if @sealing

          handshake = Blake3Handshake.new(@crypto, io, socket_type: socket_type, identity: identity, metadata: metadata)
          info, secrets = @as_server ? handshake.server(@keys) { |peer| admit?(peer) } : begin_as_client(handshake)
          @sealing, @opening = Protection.of(@crypto, secrets, continuous: @continuous)
          info
        end

        # The bytes of a frame on the wire.
        def encrypt(body, more: false, command: false)
          header = Codec::Frame.header(body.bytesize + Blake3Handshake::BOXED, more: more, command: command)
          header + @sealing.encrypt(body, aad: header)
        end

        # The frame that a frame from the wire holds.
        def decrypt(frame)
          body = @opening.decrypt(frame.body, aad: frame.header)
          Codec::Frame.new(body, more: frame.more?, command: frame.command?)
        rescue @crypto::CryptoError
          raise Error, "a frame does not verify: somebody changed, dropped or repeated bytes on the way, or the peer speaks " \
                       "the other data phase (with_continuous_keystream_unauthenticated_order)"
        end

        # Shows no keys.
        def inspect
          "#<#{self.class} #{@as_server ? "server" : "client"}>"
        end

        private

        def initialize_copy(original)
          super
          @sealing = @opening = nil
        end

        def begin_as_client(handshake)
          handshake.client(@keys || @crypto::PrivateKey.generate, @server_key)
        end

        def admit?(info)
          return true unless @authenticator

          @authenticator.call(PeerInfo.new(public_key: info[:peer_public_key], identity: info[:peer_identity]))
        end

        def server_security
          Sealwire::Security.blake3_server(keys: Sealwire::KeyPair.new(@keys.to_s), allow: allowed(@authenticator))
        end

        def client_security
          keys = @keys && Sealwire::KeyPair.new(@keys.to_s)
          Sealwire::Security.blake3_client(server_key: @server_key, keys: keys)
        end
      end

      # CURVE, as libzmq speaks it, for sockets. A Connection does not speak it, and its primitives cannot be
      # replaced.
      class Curve
        include Keyed

        attr_reader :security

        def self.server(public_key:, secret_key:, authenticator: nil, crypto: nil)
          new(crypto) do |mechanism|
            Sealwire::Security.curve_server(
              keys: mechanism.pair(public_key, secret_key), allow: mechanism.__send__(:allowed, authenticator)
            )
          end
        end

        def self.client(server_key:, public_key: nil, secret_key: nil, crypto: nil)
          new(crypto) do |mechanism|
            keys = public_key || secret_key ? mechanism.pair(public_key, secret_key) : Sealwire::KeyPair.generate
            Sealwire::Security.curve_client(server_key: mechanism.__send__(:check, server_key, "server_key"), keys: keys)
          end
        end

        def initialize(crypto)
          raise ArgumentError, "crypto: of CURVE cannot be replaced: leave it out" if crypto

          @security = yield self
        end

        def pair(public_key, secret_key) # :nodoc:
          Sealwire::KeyPair.new(check_pair(public_key, secret_key, OMQ::Blake3ZMQ::Crypto).to_s)
        end

        def encrypted?
          true
        end

        def handshake!(*)
          raise NotImplementedError, "CURVE is for sockets; Protocol::ZMTP::Connection speaks NULL and BLAKE3"
        end
      end
    end
  end
end
