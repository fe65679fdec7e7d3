# frozen_string_literal: true

module Sealwire
  module Newplex
    # Seals what is written to it, and writes it to an IO that blocks.
    class Writer
      # With a block it yields the writer and ends the stream, unless an exception ends the block: what was cut short
      # is noticed.
      def self.open(protocol, io)
        writer = new(protocol, io)
        result = yield writer
        writer.finish
        result
      end

      def initialize(protocol, io)
        @sealer = Sealer.new(protocol)
        @io = io
        @failed = false
      end

      def write(data)
        (0...data.bytesize).step(MAX_BLOCK_SIZE) do |start|
          put(@sealer.seal(data.byteslice(start, MAX_BLOCK_SIZE)))
        end
        data.bytesize
      end

      def <<(data)
        write(data)
        self
      end

      def finish
        block, protocol = @sealer.end
        put(block)
        @io.flush if @io.respond_to?(:flush)
        protocol
      end

      private

      # How much of a block the IO took after an exception is not known.
      def put(block)
        raise StateError, "an earlier write to this stream failed; it cannot go on" if @failed

        @failed = true
        @io.write(block)
        @failed = false
      end
    end

    # Opens what a Writer sealed. Bytes are handed out only once their block is known to be authentic.
    class Reader
      def initialize(protocol, io)
        @opener = Opener.new(protocol)
        @io = io
        @text = "".b
        @error = nil
      end

      def read(size = nil)
        raise ArgumentError, "negative length #{size} given" if size&.negative?

        text = "".b
        until size == text.bytesize
          @text = next_text if @text.empty? && !@opener.ended?
          break if @text.empty?

          text << @text.slice!(0, size ? size - text.bytesize : @text.bytesize)
        end
        size.nil? || size.zero? || !text.empty? ? text : nil
      end

      def finish
        @opener.end
      end

      private

      def next_text
        raise @error if @error

        # Unless it ends well, part of a block may be gone.
        @error = StateError.new("an earlier read of this stream failed; it cannot go on")
        header = exactly(HEADER_SIZE)
        text = @opener.open(header + exactly(@opener.block_size(header) - HEADER_SIZE))
        @error = nil
        text
      rescue DecryptionError => e
        @error = e
        raise
      end

      def exactly(size)
        piece = @io.read(size)
        raise DecryptionError, "the stream was cut off" unless piece && piece.bytesize == size

        piece
      end
    end
  end
end
