# frozen_string_literal: true

require "io/wait"

# Encrypted ZeroMQ sockets. See the README beside the gem, and `sig/sealwire.rbs` for types.
module Sealwire
end

require "sealwire/sealwire"
require_relative "sealwire/errors"
require_relative "sealwire/telling"
require_relative "sealwire/authentication"
require_relative "sealwire/security"
require_relative "sealwire/message"
require_relative "sealwire/monitor"
require_relative "sealwire/metrics"
require_relative "sealwire/socket"
require_relative "sealwire/readiness"
require_relative "sealwire/newplex"
require_relative "sealwire/rpc"
require_relative "sealwire/work"

# Messages sent right before the program ends are delivered, within the linger times.
at_exit do
  Sealwire::RPC.close_all
ensure
  Sealwire.close_all
end
