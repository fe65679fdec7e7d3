# frozen_string_literal: true

module OMQ
  {
    PAIR: :connect, PUB: :bind, SUB: :connect, REQ: :connect, REP: :bind, DEALER: :connect,
    ROUTER: :bind, PULL: :bind, PUSH: :connect, XPUB: :bind, XSUB: :connect, CLIENT: :connect,
    SERVER: :bind, RADIO: :bind, DISH: :connect, GATHER: :bind, SCATTER: :connect, PEER: :connect,
    CHANNEL: :connect
  }.each do |type, default|
    # From text, as methods from blocks cannot be called by other Ractors.
    class_eval <<~RUBY, __FILE__, __LINE__ + 1
      class #{type} < Socket
        def initialize(endpoints = nil, **options, &block)
          super(:#{type}, :#{default}, endpoints, **options, &block)
        end
      end
    RUBY
  end

  # What calls raise once a fault has ended the thread that moves messages.
  SocketDeadError = Sealwire::EngineFailedError

  class SUB
    # The topic of all messages.
    EVERYTHING = ""
  end

  # Of types whose messages begin with the id of a connection, four bytes.
  module Addressing # :nodoc:
    # Sends to the connection with this id, which is the first part of what was received from it.
    def send_to(routing_id, message)
      send([routing_id, message])
    end
  end

  class SERVER
    include Addressing
  end

  class PEER
    include Addressing
  end

  class RADIO
    # Sends to those that have joined the group.
    def publish(group, body)
      send(body, group: group)
    end

    def send(message, group: nil, **options)
      return super(message, **options) if group.nil?

      super([group, message], **options)
    end
  end

  class ROUTER
    # Sends to the peer with this identity, with the empty frame that a REQ expects.
    def send_to(identity, message)
      send([identity, "", *Array(message)])
    end
  end
end
