# frozen_string_literal: true

module Sealwire
  # What a callback returns to turn a client away in words of its own. The reason is told to BLAKE3
  # clients, the status (:refused, :temporary, :failed) to those of CURVE and PLAIN.
  Refusal = Struct.new(:reason, :status) do
    def initialize(reason, status: :refused)
      super(reason, status)
    end
  end

  # Says what goes wrong in a callback, once a second at most: clients choose how often it is asked.
  class Reports # :nodoc:
    PERIOD = 1
    private_constant :PERIOD

    def initialize
      @lock = Mutex.new
      @last = nil
      @left_out = 0
    end

    def tell(text)
      left_out = @lock.synchronize { note(::Process.clock_gettime(::Process::CLOCK_MONOTONIC)) }
      return unless left_out

      Sealwire.tell(left_out.zero? ? text : "#{text} (#{left_out} like it were not told)")
    end

    private

    # How many were left out before this one; nil where it is left out too.
    def note(now)
      if @last && now - @last < PERIOD
        @left_out += 1
        return nil
      end
      @last = now
      count = @left_out
      @left_out = 0
      count
    end
  end

  # A thread per Ractor that runs the callbacks which decide about clients. The questions come from
  # threads of the library, which cannot run Ruby.
  #
  # Each question is answered in a thread of its own, so a callback may take its time, and may use
  # sockets that need other callbacks. The library asks at most four at once.
  class Reception # :nodoc:
    KEY = :sealwire_reception
    private_constant :KEY

    # The one of this Ractor, made anew in a child of the process, where threads do not go on. Two
    # threads that ask at once may get two, which does no harm.
    def self.current
      reception = Ractor.current[KEY]
      reception = Ractor.current[KEY] = new unless reception&.alive?
      reception
    end

    def initialize
      @desk = Desk.new
      @callbacks = {}
      @lock = Mutex.new
      @number = 0
      @thread = Thread.new { serve }
      @thread.name = "sealwire authenticators"
      @thread.report_on_exception = false
    end

    def alive?
      @thread.alive?
    end

    def register(callback)
      number = @lock.synchronize do
        @callbacks[@number += 1] = [callback, Reports.new]
        @number
      end
      Authenticator.callback(@desk, number)
    end

    private

    def serve
      while (task = @desk.next)
        if task.is_a?(Integer)
          @lock.synchronize { @callbacks.delete(task) }
        else
          answer(task)
        end
      end
    ensure
      # Questions that come now are refused, and not kept waiting.
      @desk.close
    end

    def answer(pending)
      callback, reports = @lock.synchronize { @callbacks[pending.callback] }
      Thread.new { decide(callback, reports, pending) }.report_on_exception = false
    rescue ThreadError => error
      pending.fail
      reports.tell("no thread for an authenticator: #{error.message}; client refused")
    end

    def decide(callback, reports, pending)
      asking = pending.asking
      case (verdict = callback.call(asking))
      when nil, false
        pending.refuse("this #{asking.is_a?(Guest) ? "peer" : "client"} is not allowed here", :refused)
      when String then pending.allow(verdict)
      when Refusal then pending.refuse(verdict.reason, verdict.status)
      else pending.allow(nil)
      end
    rescue Exception => error
      role = asking.is_a?(Guest) ? "admit" : "an authenticator"
      reports.tell("#{role} raised #{error.class}: #{error.message}; client refused")
    ensure
      # Does nothing when there is an answer; a thread that is killed gives this one.
      pending.fail
    end
  end

  class Authenticator
    # What `allow:` of a server takes: see Security.
    def self.from(allow) # :nodoc:
      case allow
      when Authenticator then allow
      when :anyone then anyone
      when Hash then keys(allow)
      when Array then keys(allow.to_h { |key| [key, nil] })
      else
        return file(allow.to_path) if allow.respond_to?(:to_path)
        return Reception.current.register(allow) if allow.respond_to?(:call)

        raise ArgumentError,
              "allow: takes :anyone, keys, a Hash of keys and names, a Pathname or a callable"
      end
    end
  end
end
