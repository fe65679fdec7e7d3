# frozen_string_literal: true

module Sealwire
  # A ZeroMQ socket. Each type has a class: Sealwire::REQ, Sealwire::REP and so on.
  #
  # Options are keyword arguments or attributes. Times are in seconds. Time limits, `linger`, high-water marks, byte
  # budgets and options of single socket types (`router_mandatory`, `xpub_verbose` and so on) change at once. Others, and
  # `security`, are those of endpoints that are bound or connected from then on. `spin` is fixed by the first bind, connect,
  # subscribe, monitor, send or receive: then it is an OptionError.
  class Socket
    # Methods from text, as those from blocks cannot be called by other Ractors.
    (OPTIONS - %i[admit]).each do |name|
      class_eval <<~RUBY, __FILE__, __LINE__ + 1
        def #{name} = get_option(:#{name})
        def #{name}=(value)
          set_option(:#{name}, value)
        end
      RUBY
    end

    # Decides about each peer by address and process before anybody else is asked: a callable that
    # gets a Guest and returns as those of `allow:` do; a name says no more than `true`.
    def admit=(callable)
      unless callable.nil? || callable.is_a?(Authenticator)
        raise ArgumentError, "admit: takes a callable" unless callable.respond_to?(:call)

        callable = Reception.current.register(callable)
      end
      set_option(:admit, callable)
    end

    def admit = get_option(:admit)

    # With a block the socket is closed after it, and the block's exception is raised rather than one
    # of closing.
    def self.open(*arguments, **options, &block)
      socket = new(*arguments, **options)
      block ? socket.__send__(:close_after, &block) : socket
    end

    def initialize(type, **options)
      of_type(type)
      options.each do |name, value|
        raise ArgumentError, no_option(name) unless respond_to?(:"#{name}=")

        public_send(:"#{name}=", value)
      end
    end

    # Yields messages until the socket is closed, or was drained.
    def each
      return enum_for unless block_given?

      begin
        loop { yield receive }
      rescue ClosedError, DrainedError
        self
      end
    end

    private

    def no_option(name)
      text = "sockets have no option #{name}"
      return text unless defined?(DidYouMean::SpellChecker)

      names = methods.grep(/\A[a-z]\w*=\z/).map { |writer| writer.to_s.delete_suffix("=") }
      wanted = name.to_s.downcase
      near = names.include?(wanted) ? [wanted] : DidYouMean::SpellChecker.new(dictionary: names).correct(wanted)
      near.empty? ? text : "#{text}; did you mean #{near.first(2).join(" or ")}?"
    end

    # Gives the block's value. What the block raises goes first: a failure to close would hide it.
    def close_after
      failure = nil
      yield self
    rescue Exception => failure
      raise
    ensure
      begin
        close
      rescue Error
        raise unless failure
      end
    end
  end

  %i[
    PAIR PUB SUB REQ REP DEALER ROUTER PULL PUSH XPUB XSUB
    CLIENT SERVER RADIO DISH GATHER SCATTER PEER CHANNEL STREAM DGRAM
  ].each do |type|
    class_eval <<~RUBY, __FILE__, __LINE__ + 1
      class #{type} < Socket
        def initialize(**options) = super(:#{type}, **options)
      end
    RUBY
  end
end
