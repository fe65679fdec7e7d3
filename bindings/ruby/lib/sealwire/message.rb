# frozen_string_literal: true

module Sealwire
  # One or more frames, BINARY strings, that travel together. A received one knows its `peer`.
  class Message
    include Enumerable

    def each(&block)
      return enum_for { length } unless block

      frames.each(&block)
      self
    end

    # The last frame as text.
    def text
      text = to_s.dup.force_encoding(Encoding::UTF_8)
      raise EncodingError, "the message is not UTF-8" unless text.valid_encoding?

      text
    end
  end
end
