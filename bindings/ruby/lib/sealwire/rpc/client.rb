# frozen_string_literal: true

module Sealwire
  module RPC
    # Calls a server. Connects when it is first used; may be used from several threads.
    class Client
      include Calling

      # With a block the client is closed after it.
      def self.open(*arguments, **options)
        client = new(*arguments, **options)
        return client unless block_given?

        begin
          yield client
        ensure
          client.close
        end
      end

      def initialize(endpoint, security:, context: nil, handler: nil, on_message: nil, threads: 1, queue: 1024, **options)
        inbox = Inbox.new(queue) if handler || on_message
        make(endpoint, security, context, inbox, options)
        @workers = Workers.new(inbox, threads, handler || Unimplemented.new, on_message) if inbox
        RPC.remember(self)
      end

      # Lets calls under way end, then closes the connections. `false` when the time was not enough.
      def close(timeout: 3)
        ended = shutdown(timeout)
        @workers&.finish(timeout)
        ended
      end
    end

    # The handler of those that have none.
    class Unimplemented # :nodoc:
      def call(_request)
        raise Status.new(:unimplemented, "nothing is served on this side", not_started: true)
      end
    end
  end
end
