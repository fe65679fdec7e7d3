# frozen_string_literal: true

module Sealwire
  class << self
    # What hears of failures that are not errors of a call: an object with `warn`, such as a Logger of
    # Ruby. Without one, Kernel#warn prints them. `Logger.new(nil)` keeps them to itself.
    #
    # It hears of a socket that waits while its connections fail, once for a socket, and of callbacks
    # that raise, once a second for each. Other Ractors than the main one print.
    attr_accessor :logger

    # Says one line. A failure to say it fails nothing else.
    def tell(text) # :nodoc:
      # It may hold what a peer chose, and goes to a terminal.
      text = text.scrub.gsub(/[[:cntrl:]]/) { |character| character.dump[1..-2] }
      logger = self.logger if Ractor.current == MAIN_RACTOR
      logger ? logger.warn(text) : warn("sealwire: #{text}")
    rescue StandardError
      nil
    end
  end

  MAIN_RACTOR = Ractor.current
  private_constant :MAIN_RACTOR
end
