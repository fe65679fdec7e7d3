# frozen_string_literal: true

module Sealwire
  module RPC
    # Answers calls on threads of Ruby.
    class Server
      # Without `handler:` a block answers: of the server for all calls, or of `on` for each method.
      def initialize(security:, handler: nil, on_message: nil, context: nil, threads: 4, queue: 1024, **options, &block)
        raise ArgumentError, "a server takes handler: or a block, and not both" if handler && block

        handler ||= block
        @methods = handler ? nil : Methods.new
        inbox = Inbox.new(queue)
        make(security, context, inbox, options)
        @workers = Workers.new(inbox, threads, handler || @methods, on_message)
        RPC.remember(self)
      end

      # Answers calls of this method with the block, which gets their arguments and the Request.
      def on(method, &block)
        raise StateError, "this server has a handler for all calls" unless @methods

        @methods.add(method.to_s, block)
        self
      end

      # Accepts nothing new, lets requests under way end, then closes the connections. `false` when the time was not
      # enough.
      def shutdown(timeout: 3)
        ended = end_within(timeout)
        @workers.finish(timeout)
        ended
      end

      alias close shutdown
    end

    # The blocks of a server, by method.
    class Methods # :nodoc:
      def initialize
        @blocks = {}
      end

      def add(name, block)
        raise ArgumentError, "on takes a block" unless block

        number = RPC.method_number(name)
        other, = @blocks[number]
        raise ArgumentError, "#{name} has the number of #{other}: rename one of them" if other && other != name

        @blocks[number] = [name, block]
      end

      def call(request)
        number = request.body.unpack1("N")
        raise Status.new(:unimplemented, "the body names no method", not_started: true) unless number

        _, block = @blocks[number]
        raise Status.new(:unimplemented, "no such method", not_started: true) unless block

        block.call(request.body.byteslice(4..), request)
      end
    end
  end
end
