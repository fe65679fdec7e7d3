# frozen_string_literal: true

module Sealwire
  # Reads the events of one socket, from the moment it was made on.
  class Monitor
    include Enumerable

    # Yields events until the socket is closed.
    def each
      return enum_for unless block_given?

      while (event = self.next)
        yield event
      end
      self
    end
  end
end
