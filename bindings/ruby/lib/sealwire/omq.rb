# frozen_string_literal: true

require "uri"
require "sealwire"

# The names that users of the gems omq, protocol-zmtp and omq-blake3zmq know, on sockets of Sealwire.
# They cannot be loaded together with those gems, whose names these are.
module OMQ
  raise LoadError, "sealwire/omq has the names of the gem omq, which is loaded already" if const_defined?(:Socket, false)
  if defined?(::Protocol::ZMTP::Mechanism)
    raise LoadError, "sealwire/omq has the names of the gem protocol-zmtp, which is loaded already"
  end
end

require_relative "omq/crypto"
require_relative "omq/protocol"
require_relative "omq/presence"
require_relative "omq/monitor"
require_relative "omq/socket"
require_relative "omq/types"

# As the documents of omq write it.
ØMQ = OMQ

require_relative "chacha20blake3" unless defined?(ChaCha20Blake3)
