# frozen_string_literal: true

module Sealwire
  class TimeoutError
    # The latest Failure of a connection of the socket that has not been made good since, or nil.
    attr_reader :failure
  end
end
