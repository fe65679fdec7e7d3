# frozen_string_literal: true

require "uri"
require "sealwire"

# The names that users of the gems omq, protocol-zmtp and omq-blake3zmq know, on sockets of Sealwire.
# They cannot be loaded together with those gems, whose names these are.
module OMQ
  raise LoadError, "sealwire/omq has the names of the gem omq, which is loaded already" if const_defined?(:Socket, false)
  if defined?(::Protocol::ZMTP::Mechanism)
    raise LoadError, "sealwire/omq has the names of the gem protocol-zmtp, which is loaded already"
  end

  # What an authenticator gets to see of a client.
  PeerInfo = Struct.new(:public_key, :identity, keyword_init: true)

  # A socket whose messages are frozen arrays of frozen BINARY strings.
  class Socket < Sealwire::Socket
    alias identity routing_id
    alias identity= routing_id=
    alias read_timeout recv_timeout
    alias read_timeout= recv_timeout=
    alias write_timeout send_timeout
    alias write_timeout= send_timeout=
    alias sndbuf send_buffer
    alias sndbuf= send_buffer=
    alias rcvbuf recv_buffer
    alias rcvbuf= recv_buffer=

    class << self
      def bind(endpoint, **options, &block)
        new("@#{endpoint}", **options, &block)
      end

      def connect(endpoint, **options, &block)
        new(">#{endpoint}", **options, &block)
      end
    end

    # `@` before an endpoint binds, `>` connects; without either the type decides. A block gets the
    # socket, which is closed after it.
    def initialize(type, default, endpoints, **options, &block)
      super(type, **options)
      Array(endpoints).each { |endpoint| attach(endpoint, default) }
      close_after(&block) if block
    end

    # How connections are protected; before the first bind or connect.
    def mechanism=(mechanism)
      self.security = mechanism.security
    end

    # The endpoint with the port that was chosen.
    def bind(endpoint)
      URI.parse(super)
    end

    def connect(endpoint)
      super
      URI.parse(endpoint)
    end

    def receive(timeout: recv_timeout)
      super.frames
    end

    def each
      return enum_for unless block_given?

      begin
        loop { yield receive }
      rescue Sealwire::ClosedError, Sealwire::TimeoutError
        nil
      end
    end

    alias enqueue send
    alias push send
    alias dequeue receive
    alias pop receive

    def subscribe(topic = "")
      super
    end

    def close
      super
      nil
    rescue Sealwire::UnsentError
      nil
    end

    private

    def attach(endpoint, default)
      case endpoint[0]
      when "@" then bind(endpoint[1..])
      when ">" then connect(endpoint[1..])
      else public_send(default, endpoint)
      end
    end
  end

  {
    PAIR: :connect, PUB: :bind, SUB: :connect, REQ: :connect, REP: :bind, DEALER: :connect,
    ROUTER: :bind, PULL: :bind, PUSH: :connect, XPUB: :bind, XSUB: :connect, CLIENT: :connect,
    SERVER: :bind, RADIO: :bind, DISH: :connect, GATHER: :bind, SCATTER: :connect, PEER: :connect,
    CHANNEL: :connect
  }.each do |type, default|
    # From text, as methods from blocks cannot be called by other Ractors.
    class_eval <<~RUBY, __FILE__, __LINE__ + 1
      class #{type} < Socket
        def initialize(endpoints = nil, **options, &block)
          super(:#{type}, :#{default}, endpoints, **options, &block)
        end
      end
    RUBY
  end

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

# As the documents of omq write it.
ØMQ = OMQ

require_relative "chacha20blake3" unless defined?(ChaCha20Blake3)
