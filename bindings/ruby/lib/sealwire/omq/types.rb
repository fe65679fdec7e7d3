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

  class SUB
    # The topic of all messages.
    EVERYTHING = ""
  end

  class ROUTER
    # Sends to the peer with this identity, with the empty frame that a REQ expects.
    def send_to(identity, message)
      send([identity, "", *Array(message)])
    end
  end
end
