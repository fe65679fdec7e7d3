# frozen_string_literal: true

module Protocol
  module ZMTP
    module Mechanism
      # What the handshakes of a connection have in common: commands over an IO.
      class Handshake # :nodoc:
        # No command of a handshake has more.
        LARGEST = 4096

        def initialize(io, socket_type:, identity:, metadata:)
          @io = io
          @metadata = { "Socket-Type" => socket_type.to_s, "Identity" => identity.to_s }.merge(metadata || {})
        end

        private

        def metadata
          Codec::Command.encode_properties(@metadata)
        end

        # Gives the bytes on the wire.
        def send_command(name, data)
          Codec::Command.new(name, data).to_frame.to_wire.tap { |wire| Codec.write(@io, wire) }
        end

        # Gives the data and the bytes on the wire.
        def receive_command(name)
          frame = Codec::Frame.read_from(@io, max_message_size: LARGEST)
          raise Error, "a message came before the handshake was done" unless frame.command?

          command = Codec::Command.from_body(frame.body)
          raise Error, "the peer ends the handshake: #{command.reason} (not verified)" if command.name == "ERROR"
          raise Error, "#{name} was to come" unless command.name == name

          [command.data, frame.to_wire]
        end

        def greet(mechanism, as_server, padding: "\0" * 8)
          own = Codec::Greeting.encode(mechanism: mechanism, as_server: as_server, padding: padding)
          Codec.write(@io, own)
          bytes = Codec.read(@io, Codec::Greeting::SIZE)
          peer = Codec::Greeting.decode(bytes)
          unless peer[:mechanism] == mechanism
            raise Error, "the mechanism is #{mechanism} here, and #{peer[:mechanism].inspect} at the peer"
          end

          [own, bytes, peer]
        end

        def result(bytes, greeting, public_key: nil)
          properties = Codec::Command.decode_properties(bytes)
          named = ->(name) { properties.find { |other, _| other.casecmp?(name) }&.last }
          {
            peer_socket_type: named.call("Socket-Type"), peer_identity: named.call("Identity") || "",
            peer_properties: properties, peer_public_key: public_key,
            peer_major: greeting[:major], peer_minor: greeting[:minor]
          }
        end
      end

      # READY in both directions.
      class NullHandshake < Handshake # :nodoc:
        def run
          _, _, greeting = greet("NULL", false)
          send_command("READY", metadata)
          data, = receive_command("READY")
          result(data, greeting)
        end
      end
    end
  end
end
