# frozen_string_literal: true

module Sealwire
  # Calls over encrypted connections: requests with answers, one-way messages and streams, in both directions. Client
  # and Server speak the protocol of the Rust crate `sealwire-rpc`.
  module RPC
    # Why the other side did not reply. 1,000 and above are the application's.
    module Code
      CANCELLED = 1
      UNKNOWN = 2
      INVALID_ARGUMENT = 3
      DEADLINE_EXCEEDED = 4
      NOT_FOUND = 5
      ALREADY_EXISTS = 6
      PERMISSION_DENIED = 7
      RESOURCE_EXHAUSTED = 8
      FAILED_PRECONDITION = 9
      ABORTED = 10
      OUT_OF_RANGE = 11
      UNIMPLEMENTED = 12
      INTERNAL = 13
      UNAVAILABLE = 14
      DATA_LOSS = 15
      UNAUTHENTICATED = 16

      # The number of a code, which may be given by its name: `:not_found`.
      def self.number(code)
        return const_get(code.upcase) if code.is_a?(Symbol) && const_defined?(code.upcase, false)
        return code if code.is_a?(Integer) && code.between?(1, 0xffff)

        raise ArgumentError, "a code is a number from 1 to 65535 or a name of Sealwire::RPC::Code, not #{code.inspect}"
      end
    end

    # For handlers to raise: the caller gets a RemoteError with these. `not_started` promises that nothing was done, so
    # that the caller may ask again.
    class Status < Error
      attr_reader :code, :details

      def initialize(code, message = "", details = "", not_started: false)
        @code = Code.number(code)
        @details = details
        @not_started = not_started
        super(message)
      end

      def not_started?
        @not_started
      end
    end

    class CallError
      # Whether the other side may have acted on it; `false` is a promise.
      def may_have_run?
        @may_have_run
      end
    end

    class RemoteError
      attr_reader :code, :remote_message, :details
    end

    class Metadata
      include Enumerable

      # Of a hash, or of an array of pairs.
      def self.new(entries = {})
        make(entries)
      end
      private_class_method :make

      # Yields all entries in their order, each as key and value.
      def each(&block)
        return enum_for unless block

        pairs.each(&block)
        self
      end

      # Whether there is an entry with this key.
      def key?(key)
        !self[key].nil?
      end

      def empty?
        size.zero?
      end

      # The first value of each key.
      def to_h
        each_with_object({}) { |(key, value), hash| hash[key] = value unless hash.key?(key) }
      end
    end

    class TraceContext
      # Of the texts that a tracer writes.
      def self.new(traceparent, tracestate = "")
        make(traceparent, tracestate)
      end
      private_class_method :make

      # The same trace with a span of this side in the place of the caller's. Without `span_id` a random one is chosen.
      def child(span_id = nil)
        child_of(span_id)
      end

      # Metadata with this context in it.
      def write(metadata = {})
        written(metadata)
      end
    end

    # Of Client and Conn.
    module Calling
      # Calls with a stream of items in each direction. A block gets the stream, which is closed after it.
      def open(body, **options)
        stream = start(body, **options)
        return stream unless block_given?

        begin
          yield stream
        ensure
          stream.close
        end
      end

      # Calls a method that the other side serves with `on`, and gives its answer.
      def call(method, arguments = "", **options)
        request([RPC.method_number(method)].pack("N") + arguments.b, **options)
      end
    end

    # Of Stream and Request.
    module Items
      include Enumerable

      # Yields the items of the other side.
      def each
        return enum_for unless block_given?

        while (item = self.next)
          yield item
        end
        self
      end
    end

    class Conn
      include Calling
    end

    class Stream
      include Items
    end

    class Request
      include Items

      # Answers with an error. `not_started` promises that nothing was done, so that the caller may ask again.
      def fail(code, message = "", details = "", not_started: false)
        fail_with(Code.number(code), message, details, not_started)
      end
    end

    class << self
      # The number of a method in a body: 32 bits of FNV-1a, as for services of Rust.
      def method_number(name)
        name.to_s.each_byte.inject(0x811c9dc5) { |hash, byte| ((hash ^ byte) * 0x01000193) & 0xffffffff }
      end

      # Closed when the program ends.
      def remember(side) # :nodoc:
        OPEN[side] = true if Ractor.current == MAIN_RACTOR
      end

      # Whether the program ends, so that threads are not started any more.
      def ending? # :nodoc:
        Ractor.current != MAIN_RACTOR || @ending
      end

      def close_all # :nodoc:
        @ending = true
        # Ruby 3.1 lists keys that a collection has found dead and not swept yet. What they refer to may be gone.
        GC.start
        OPEN.keys.each do |side|
          side.close
        rescue Error
          # A child of the process leaves those of its parent alone.
          nil
        end
      end
    end

    @ending = false
    OPEN = ObjectSpace::WeakMap.new
    private_constant :OPEN
  end
end

require_relative "rpc/workers"
require_relative "rpc/client"
require_relative "rpc/server"
