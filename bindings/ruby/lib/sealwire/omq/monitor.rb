# frozen_string_literal: true

module OMQ
  # What happened to an endpoint or a connection: `type`, `endpoint` and `detail`, a Hash or nil. Fits
  # patterns: `in type: :connected, endpoint:`.
  MonitorEvent = Struct.new(:type, :endpoint, :detail, keyword_init: true) do
    # The event of the gem's names for one of Sealwire.
    def self.from(event) # :nodoc:
      detail = {
        reason: event.reason, attempt: event.attempt, interval: event.delay, peer: event.peer,
        failure: event.failure
      }.compact
      new(type: type_of(event), endpoint: event.endpoint || event.address, detail: detail.empty? ? nil : detail).freeze
    end

    def self.type_of(event)
      case event.name
      when :ready then :handshake_succeeded
      when :retrying then :connect_retried
      when :failed
        failure = event.failure
        if failure.ready? then :disconnected
        else failure.connection ? :handshake_failed : :connect_failed
        end
      else event.name
      end
    end
    private_class_method :type_of
  end

  # A thread that calls a block with the events of a socket until the socket is closed, or `stop`. The
  # last event is `:monitor_stopped`.
  class MonitorTask
    def initialize(monitor, &block)
      # A thread that is ended before it has begun says nothing.
      begun = Queue.new
      @thread = Thread.new do
        begun << true
        monitor.each { |event| block.call(MonitorEvent.from(event)) }
      ensure
        block.call(MonitorEvent.new(type: :monitor_stopped).freeze)
      end
      @thread.name = "omq monitor"
      begun.pop
    end

    # Ends it, also in the middle of the block.
    def stop
      @thread.kill
      @thread.join unless @thread.equal?(Thread.current)
      nil
    end

    # Waits until the socket is closed and all events were told. Raises what the block raised.
    def wait
      @thread.join
      nil
    end
  end
end
