# frozen_string_literal: true

module OMQ
  # Something that happens once to a socket and its peers.
  class Promise
    def initialize(presence, name)
      @presence = presence
      @name = name
    end

    # Waits until it has happened, and gives its value; nil when the socket was closed before.
    def wait
      @presence.wait(@name)
    end

    # Whether `wait` would return at once.
    def resolved?
      @presence.resolved?(@name)
    end
  end

  # What the events of a socket say about its peers.
  class Presence # :nodoc:
    def initialize(socket, events)
      @socket = socket
      @events = events
      @lock = Mutex.new
      @changed = ConditionVariable.new
      @reading = false
      @live = {}
      @values = {}
      @lost = 0
    end

    # One thread reads at a time, and the others hear of what it has read.
    def wait(name)
      @lock.synchronize do
        until settled?(name)
          if @reading
            @changed.wait(@lock)
          else
            note(read)
          end
        end
        @values[name]
      end
    end

    def resolved?(name)
      @lock.synchronize do
        until @reading || settled?(name)
          break unless (event = @events.next(timeout: 0)) || @socket.closed?

          note(event)
        end
        settled?(name)
      end
    end

    private

    def settled?(name)
      @ended || @values.key?(name)
    end

    # Waits for an event, without the lock.
    def read
      @reading = true
      @lock.unlock
      begin
        @events.next
      ensure
        @lock.lock
        @reading = false
        @changed.broadcast
      end
    end

    def note(event)
      return @ended = true unless event

      case event.name
      when :ready then arrived(event.peer)
      when :subscribed then @values[:subscribed] ||= event.peer
      when :disconnected, :failed then left(event.connection)
      end
      catch_up unless @events.lost == @lost
    end

    def arrived(peer)
      @live[peer.connection] = true
      @values[:connected] ||= peer
    end

    def left(connection)
      @values[:gone] = true if @live.delete(connection) && @live.empty?
    end

    # More happened than a monitor keeps: who is there now is what counts.
    def catch_up
      @lost = @events.lost
      peers = @socket.peers
      @values[:gone] = true if peers.empty? && !@live.empty?
      @live = peers.to_h { |peer| [peer.connection, true] }
      peers.first(1).each { |peer| @values[:connected] ||= peer }
    rescue Sealwire::ClosedError
      @ended = true
    end
  end
end
