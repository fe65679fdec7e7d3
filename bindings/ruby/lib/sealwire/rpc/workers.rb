# frozen_string_literal: true

module Sealwire
  module RPC
    # Threads that take what arrives and call a handler.
    class Workers # :nodoc:
      def initialize(inbox, count, handler, on_message)
        @inbox = inbox
        @handler = handler
        @on_message = on_message
        @reports = Reports.new
        @lock = Mutex.new
        @threads = []
        @ended = false
        [count, 1].max.times { start }
      end

      # Takes nothing new, and waits for what is under way.
      def finish(timeout)
        @inbox.close
        threads = @lock.synchronize do
          @ended = true
          @threads - [Thread.current]
        end
        deadline = now + timeout
        threads.each { |thread| thread.join([deadline - now, 0].max) }
      end

      private

      def now
        ::Process.clock_gettime(::Process::CLOCK_MONOTONIC)
      end

      def start
        @lock.synchronize do
          return if @ended

          @threads.select!(&:alive?)
          @threads << Thread.new { work }
          @threads.last.name = "sealwire calls"
          @threads.last.report_on_exception = false
        end
      end

      def work
        while (arrived = @inbox.next)
          arrived.is_a?(Request) ? answer(arrived) : take(arrived)
        end
        over = true
      ensure
        # A handler may end its thread. Then another one goes on. Not in other Ractors, which kill their threads in the end.
        start unless over || RPC.ending?
      end

      def answer(request)
        return settle(request, Status.new(:deadline_exceeded, not_started: true)) if request.cancelled?

        reply = @handler.call(request)
        request.reply(reply) unless request.answered?
      rescue Status => status
        settle(request, status)
      rescue Exception => error
        # The text may say what is nobody else's business.
        settle(request, Status.new(:internal, "the handler failed"))
        tell("a handler", error, "; its caller was told of an internal error")
      ensure
        # Of a thread that was killed.
        settle(request, Status.new(:internal, "the handler gave no answer"))
      end

      def settle(request, status)
        return if request.answered?

        request.fail(status.code, status.message, status.details, not_started: status.not_started?)
      rescue StateError
        # Another thread of the handler still uses it, or has answered just now.
        nil
      end

      def take(message)
        @on_message&.call(message)
      rescue Exception => error
        tell("a handler of one-way messages", error, "")
      ensure
        message.__send__(:done)
      end

      def tell(role, error, outcome)
        @reports.tell("#{role} raised #{error.class}: #{error.message}#{outcome}")
      end
    end
  end
end
