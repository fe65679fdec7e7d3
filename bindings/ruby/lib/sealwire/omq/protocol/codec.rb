# frozen_string_literal: true

module Protocol
  module ZMTP
    # The bytes of greetings, frames and commands.
    module Codec
      # Bytes that are read at once: memory follows what has come, and not what a peer announces.
      CHUNK = 1 << 20
      private_constant :CHUNK

      # Reads that many bytes, and no fewer.
      def self.read(io, size) # :nodoc:
        bytes = "".b
        while bytes.bytesize < size
          wanted = [size - bytes.bytesize, CHUNK].min
          part = io.respond_to?(:read_exactly) ? io.read_exactly(wanted) : io.read(wanted)
          raise EOFError, "the peer closed the connection" if part.nil? || part.bytesize < wanted

          bytes << part.b
        end
        bytes
      end

      # Writes bytes, and has them sent.
      def self.write(io, bytes) # :nodoc:
        io.write(bytes)
        io.flush if io.respond_to?(:flush)
      end

      # The 64 bytes that both sides send first.
      module Greeting
        SIZE = 64

        module_function

        # `padding` are 8 bytes that mean nothing to ZMTP.
        def encode(mechanism: "NULL", as_server: false, padding: "\0" * 8)
          ["\xFF".b, padding.b, "\x7F\x03\x01".b, mechanism, as_server ? 1 : 0].pack("a1a8a3a20C").ljust(SIZE, "\0".b)
        end

        # `{ major:, minor:, mechanism:, as_server: }`
        def decode(bytes)
          bytes = bytes.b
          raise Error, "a greeting has #{SIZE} bytes, this has #{bytes.bytesize}" unless bytes.bytesize == SIZE
          raise Error, "this is not the greeting of a ZMTP peer" unless bytes.getbyte(0) == 0xFF && bytes.getbyte(9) == 0x7F

          major, minor, mechanism, as_server = bytes.unpack("x10CCa20C")
          raise Error, "the peer speaks ZMTP #{major}.#{minor}, 3.0 or newer is needed" if major < 3

          { major: major, minor: minor, mechanism: mechanism.sub(/\0+\z/n, ""), as_server: as_server == 1 }
        end

        def read_from(io)
          decode(Codec.read(io, SIZE))
        end
      end

      # Flags, length and body.
      class Frame
        MORE = 1
        LONG = 2
        COMMAND = 4

        attr_reader :body, :header

        # The bytes before a body of this size.
        def self.header(size, more: false, command: false)
          flags = (more ? MORE : 0) | (command ? COMMAND : 0)
          size > 255 ? [flags | LONG, size].pack("CQ>") : [flags, size].pack("CC")
        end

        # Reads a frame whose body has `max_message_size` bytes at most.
        def self.read_from(io, max_message_size: nil)
          header = Codec.read(io, 2)
          flags = header.getbyte(0)
          raise Error, format("a frame has the flags 0x%02x, which mean nothing", flags) if flags > 7 || flags & 5 == 5

          size = header.getbyte(1)
          if flags & LONG != 0
            header << Codec.read(io, 7)
            size = header.unpack1("xQ>")
          end
          if max_message_size && size > max_message_size
            raise Error, "a frame of #{size} bytes exceeds max_message_size (#{max_message_size} bytes)"
          end

          new(Codec.read(io, size), more: flags & MORE != 0, command: flags & COMMAND != 0, header: header)
        end

        # `header` is the one that came, where the frame was read.
        def initialize(body, more: false, command: false, header: nil)
          @body = body
          @more = more
          @command = command
          @header = header || Frame.header(body.bytesize, more: more, command: command)
        end

        def more?
          @more
        end

        def command?
          @command
        end

        def to_wire
          @header + @body
        end
      end

      # A frame for the protocol itself: a name and data.
      class Command
        attr_reader :name, :data

        def self.from_body(body)
          size = body.getbyte(0) or raise Error, "a command without a name"
          raise Error, "the name of a command is cut off" if body.bytesize < 1 + size

          new(body.byteslice(1, size), body.byteslice(1 + size, body.bytesize))
        end

        # The bytes of properties, such as `Socket-Type`.
        def self.encode_properties(properties)
          properties.map do |name, value|
            raise Error, "a property's name has 1 to 255 bytes" unless (1..255).cover?(name.bytesize)

            [name.bytesize, name.b, value.to_s.bytesize, value.to_s.b].pack("Ca*Na*")
          end.join.b
        end

        # Names compare without case; each comes once.
        def self.decode_properties(bytes)
          properties = {}
          until bytes.empty?
            size = bytes.getbyte(0)
            length = bytes.byteslice(1 + size, 4)
            raise Error, "a property is cut off" unless size.positive? && length&.bytesize == 4

            value = bytes.byteslice(5 + size, length.unpack1("N"))
            raise Error, "a property is cut off" unless value&.bytesize == length.unpack1("N")

            name = bytes.byteslice(1, size)
            raise Error, "a property comes twice" if properties.keys.any? { |other| other.casecmp?(name) }

            properties[name] = value
            bytes = bytes.byteslice((5 + size + value.bytesize)..)
          end
          properties
        end

        def initialize(name, data = "".b)
          @name = name
          @data = data
        end

        def to_body
          [@name.bytesize, @name, @data].pack("Ca*a*")
        end

        def to_frame
          Frame.new(to_body, command: true)
        end

        # Why the peer ends the handshake. Anybody on the way can say so, where nothing is encrypted.
        def reason
          reason = @data.byteslice(1, @data.getbyte(0) || 0).to_s
          reason.encode(Encoding::US_ASCII, Encoding::BINARY, undef: :replace).gsub(/[^ -~]/, "?")
        end
      end
    end
  end
end
