# frozen_string_literal: true

module Protocol
  module ZMTP
    module Mechanism
      # HELLO, WELCOME, INITIATE and READY of BLAKE3ZMQ: sections 3 and 4 of docs/spec/blake3zmq.md, with
      # what section 8 adds. One object is one connection.
      #
      # A server here has a thread or fiber for each connection, which remembers what it needs. So its
      # cookie says nothing: random bytes, which have to come back on the same connection.
      class Blake3Handshake < Handshake # :nodoc:
        ID = "BLAKE3ZMQ-1.0"
        VERSION = "\x01\x00".b
        COOKIE = 152
        BOXED = 32
        PRIME = (1 << 255) - 19

        # What the data phase starts from: input of its keys, and whether this side is the client.
        Secrets = Struct.new(:material, :client) do
          def inspect
            "#<Secrets>"
          end
          alias_method :to_s, :inspect
        end

        def initialize(crypto, io, **options)
          super(io, **options)
          @crypto = crypto
        end

        # Gives what is known of the server, and the Secrets.
        def client(keys, server_key)
          server = public_key(server_key, "the server's key")
          ephemeral = @crypto::PrivateKey.generate
          own = ephemeral.public_key.to_s
          greeting = begin_transcript(false)
          first = agree(ephemeral, server)
          hello = seal("HELLO", first, own, "\0".b * 64)
          follow send_command("HELLO", VERSION + own + "\0".b * 96 + hello)
          theirs, cookie = welcome(first)
          second = agree(ephemeral, theirs)
          vouch = seal("VOUCH", agree(keys, theirs), nil, own + server.to_s)
          box = seal("INITIATE", second + @transcript, nil, keys.public_key.to_s + vouch + metadata)
          follow send_command("INITIATE", cookie + box)
          data, wire = receive_command("READY")
          properties = open("READY", second + @transcript, nil, data)
          follow wire
          [result(properties, greeting, public_key: server), Secrets.new(@transcript + second, true)]
        end

        # Gives what is known of the client, and the Secrets. The block is asked whether it may connect.
        def server(keys)
          greeting = begin_transcript(true)
          client, first = hello(keys)
          ephemeral = @crypto::PrivateKey.generate
          cookie = @crypto.random_bytes(COOKIE)
          follow send_command("WELCOME", seal("WELCOME", first, @transcript, ephemeral.public_key.to_s + cookie))
          second = agree(ephemeral, client)
          properties, longterm = initiate(keys, ephemeral, client, cookie, second)
          info = result(properties, greeting, public_key: longterm)
          refuse("this client is not allowed here") unless yield info
          follow send_command("READY", seal("READY", second + @transcript, nil, metadata))
          [info, Secrets.new(@transcript + second, false)]
        end

        private

        def begin_transcript(as_server)
          # Fresh bytes of the server make two answers to one HELLO differ.
          padding = as_server ? @crypto.random_bytes(8) : "\0" * 8
          own, bytes, greeting = greet("BLAKE3", as_server, padding: padding)
          raise Error, "both sides are #{as_server ? "servers" : "clients"} of BLAKE3" if greeting[:as_server] == as_server

          @transcript = @crypto::Hash.digest(ID + (as_server ? bytes + own : own + bytes))
          greeting
        end

        def follow(wire)
          @transcript = @crypto::Hash.digest(@transcript + wire)
        end

        # The client's ephemeral key, and the first secret.
        def hello(keys)
          data, wire = receive_command("HELLO")
          raise Error, "HELLO has another size" unless data.bytesize == 2 + 32 + 96 + 64 + BOXED
          raise Error, "HELLO has another version" unless data.start_with?(VERSION)
          raise Error, "HELLO has other padding than zeros" unless data.byteslice(34, 96) == "\0".b * 96

          client = public_key(data.byteslice(2, 32), "the client's ephemeral key")
          first = agree(keys, client)
          text = open("HELLO", first, client.to_s, data.byteslice(130..))
          raise Error, "HELLO has another content" unless text == "\0".b * 64

          follow wire
          [client, first]
        end

        # The server's ephemeral key, and the cookie.
        def welcome(first)
          data, wire = receive_command("WELCOME")
          raise Error, "WELCOME has another size" unless data.bytesize == 32 + COOKIE + BOXED

          text = open("WELCOME", first, @transcript, data)
          follow wire
          [public_key(text.byteslice(0, 32), "the server's ephemeral key"), text.byteslice(32..)]
        end

        # The client's metadata, and its long-term key.
        def initiate(keys, ephemeral, client, cookie, second)
          data, wire = receive_command("INITIATE")
          raise Error, "INITIATE is too short" if data.bytesize < COOKIE + 32 + 96 + BOXED
          raise Error, "INITIATE has a cookie of another connection" unless same?(data.byteslice(0, COOKIE), cookie)

          text = open("INITIATE", second + @transcript, nil, data.byteslice(COOKIE..))
          longterm = public_key(text.byteslice(0, 32), "the client's key")
          vouch = open("VOUCH", agree(ephemeral, longterm), nil, text.byteslice(32, 96))
          raise Error, "the vouch is for another connection" unless same?(vouch, client.to_s + keys.public_key.to_s)

          follow wire
          [text.byteslice(128..), longterm]
        end

        # In a time that tells nothing of the bytes: their hashes are compared.
        def same?(one, other)
          @crypto::Hash.digest(one) == @crypto::Hash.digest(other)
        end

        def refuse(reason)
          send_command("ERROR", [reason.bytesize, reason].pack("Ca*"))
          raise Error, reason
        end

        def public_key(bytes, name)
          value = bytes.to_s.b.reverse.unpack1("H*").to_i(16)
          raise Error, "#{name} is not canonical" unless value < PRIME

          @crypto::PublicKey.new(bytes.to_s.b)
        end

        def agree(secret, public_key)
          shared = secret.diffie_hellman(public_key)
          raise ArgumentError if shared.each_byte.reduce(0) { |bits, byte| bits | byte }.zero?

          shared
        rescue ArgumentError
          raise Error, "the peer's key has low order: nothing agreed with it is secret"
        end

        # The nonce comes of `nonce_material`, if there is one, else of the key's material.
        def box(name, material, nonce_material)
          key = @crypto::Hash.derive_key("#{ID} #{name} key", material)
          nonce = @crypto::Hash.derive_key("#{ID} #{name} nonce", nonce_material || material, size: 24)
          [@crypto::Cipher.new(key), nonce]
        end

        def seal(name, material, nonce_material, text)
          cipher, nonce = box(name, material, nonce_material)
          cipher.encrypt(nonce, text, aad: name)
        end

        def open(name, material, nonce_material, sealed)
          cipher, nonce = box(name, material, nonce_material)
          cipher.decrypt(nonce, sealed, aad: name)
        rescue @crypto::CryptoError
          raise Error, "#{name} does not open: the peer has another key, or somebody changed bytes on the way"
        end
      end
    end
  end
end
