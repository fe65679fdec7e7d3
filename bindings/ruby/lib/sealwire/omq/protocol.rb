# frozen_string_literal: true

# One connection of ZMTP over any IO, under the names of the gems protocol-zmtp and omq-blake3zmq.
module Protocol
  module ZMTP
    # The peer broke the protocol, was turned away, or turned this side away. The connection is over.
    class Error < RuntimeError
    end

    # What an authenticator gets to see of a client.
    PeerInfo = Struct.new(:public_key, :identity, keyword_init: true)
  end
end
OMQ::PeerInfo = Protocol::ZMTP::PeerInfo

require_relative "protocol/codec"
require_relative "protocol/handshake"
require_relative "protocol/blake3_handshake"
require_relative "protocol/protection"
require_relative "protocol/mechanism"
require_relative "protocol/connection"
