# frozen_string_literal: true

module Sealwire
  class TimeoutError
    # The latest Failure of a connection of the socket that has not been made good since, or nil.
    attr_reader :failure
  end

  # Nothing came in time, and the last connection was refused in its handshake: a wrong key, a client that is not let
  # in, another mechanism.
  class HandshakeError
  end

  class DrainedError
    # How many connections did not end in good order within the time limit.
    attr_reader :cut_off
  end
end
