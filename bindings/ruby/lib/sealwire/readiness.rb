# frozen_string_literal: true

module Sealwire
  # A descriptor for IO.select and event loops, for one socket: it is readable when something to
  # receive, room to send or the end of the socket may have come. Wait until it is readable, `take`, and
  # do what that says; then wait again. Each waiter has one of its own.
  class Readiness
    # For IO.select. It is never read, and closed with this object.
    def to_io
      @io ||= IO.for_fd(fileno, autoclose: false).tap do |io|
        # The descriptor is there as long as the IO is.
        io.instance_variable_set(:@readiness, self)
      end
    end
  end

  class Socket
    # Waits until there is something to receive, for `timeout` seconds at most. Gives the socket, or
    # nil when the time ran out, as IO#wait_readable does. Another thread may receive it first.
    def wait_readable(timeout = nil)
      wait_until(:receive, timeout)
    end

    # Waits until there is room to send, for `timeout` seconds at most. There always is on types that
    # drop what a peer has no room for, and on those that send to a peer by its id.
    def wait_writable(timeout = nil)
      wait_until(:send, timeout)
    end

    private

    def wait_until(operation, timeout)
      deadline = timeout && (::Process.clock_gettime(::Process::CLOCK_MONOTONIC) + timeout)
      watched = readiness
      until (possible = watched.take).include?(operation)
        raise ClosedError, "the socket is closed" if possible.include?(:closed)

        left = deadline && [deadline - ::Process.clock_gettime(::Process::CLOCK_MONOTONIC), 0].max
        return nil unless watched.to_io.wait_readable(left)
      end
      self
    end
  end
end
