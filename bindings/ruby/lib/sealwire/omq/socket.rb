# frozen_string_literal: true

module OMQ
  # An endpoint that a URI would write otherwise, or refuses: the slashes before a path, names with spaces.
  class LocalEndpoint < URI::Generic # :nodoc:
    def self.uri(endpoint)
      uri = URI.parse(endpoint)
      uri.to_s == endpoint ? uri : new(endpoint)
    rescue URI::InvalidURIError
      new(endpoint)
    end

    def initialize(endpoint)
      scheme, path = endpoint.split("://", 2)
      super(scheme, nil, nil, nil, nil, path, nil, nil, nil)
      @endpoint = endpoint
    end

    def to_s
      @endpoint
    end
  end

  # A socket whose messages are frozen arrays of frozen BINARY strings.
  class Socket < Sealwire::Socket
    # Types that drop what a peer has no room for.
    DROPPING = %i[PUB XPUB RADIO].freeze
    # Those of them that can wait instead.
    CHOOSING = %i[PUB XPUB].freeze
    private_constant :DROPPING, :CHOOSING

    alias identity routing_id
    alias identity= routing_id=
    alias read_timeout recv_timeout
    alias read_timeout= recv_timeout=
    alias write_timeout send_timeout
    alias write_timeout= send_timeout=
    alias sndbuf send_buffer
    alias sndbuf= send_buffer=
    alias rcvbuf recv_buffer
    alias rcvbuf= recv_buffer=

    # Reasons for which connecting ends, all of them.
    NEVER_AGAIN = %i[connection_refused handshake_failed after_disconnect unreachable].freeze
    private_constant :NEVER_AGAIN

    class << self
      def bind(endpoint, **options, &block)
        new("@#{endpoint}", **options, &block)
      end

      def connect(endpoint, **options, &block)
        new(">#{endpoint}", **options, &block)
      end
    end

    # `@` before an endpoint binds, `>` connects; without either the type decides. `subscribe:` is the
    # first topic of a SUB or XSUB, `group:` the first group of a DISH. A block gets the socket, which is closed after it.
    def initialize(type, default, endpoints, subscribe: nil, group: nil, **options, &block)
      super(type, **options)
      begin_with(subscribe) unless subscribe.nil?
      join(group) unless group.nil?
      Array(endpoints).each { |endpoint| attach(endpoint, default) }
      close_after(&block) if block
    end

    # How connections of endpoints that are bound or connected from now on are protected.
    def mechanism=(mechanism)
      self.security = mechanism.security
    end

    # What happens with messages for which a peer has no room. PUB and XPUB can choose between
    # `:drop_newest` and `:block`; other types have the one that `on_mute` says. None drops what is queued.
    def on_mute=(strategy)
      possible = CHOOSING.include?(socket_type) ? %i[drop_newest block] : [on_mute]
      unless possible.include?(strategy)
        raise ArgumentError, "on_mute of a #{socket_type} is #{possible.map(&:inspect).join(" or ")}, not #{strategy.inspect}"
      end

      self.xpub_no_drop = strategy == :block if possible.size > 1
    end

    def on_mute
      DROPPING.include?(socket_type) && !xpub_no_drop ? :drop_newest : :block
    end

    # Sets no limits for messages in queues.
    def set_unbounded
      self.send_hwm = 0
      self.recv_hwm = 0
      nil
    end

    def router_mandatory?
      router_mandatory ? true : false
    end

    # The first and the longest wait before connecting again, in seconds, or the first alone.
    def reconnect_interval=(interval)
      return super unless interval.is_a?(Range)

      first, longest = interval.begin, interval.end
      raise ArgumentError, "reconnect_interval is a number or a range with both ends, not #{interval}" unless first && longest

      super(first)
      self.reconnect_interval_max = longest
    end

    # Whether a connection that fails is made again, for endpoints that are connected from now on.
    def reconnect_enabled=(enabled)
      self.reconnect_stop = enabled ? nil : NEVER_AGAIN
    end

    # The endpoint with the port that was chosen.
    def bind(endpoint)
      follow_events
      LocalEndpoint.uri(super)
    end

    def connect(endpoint)
      follow_events
      super
      LocalEndpoint.uri(endpoint)
    end

    # nil when there is nothing and close_read has ended receiving.
    def receive(timeout: recv_timeout)
      super.frames
    rescue Sealwire::ClosedError
      raise unless read_closed? && !closed?
    end

    def each
      return enum_for unless block_given?

      begin
        while (message = receive)
          yield message
        end
      rescue Sealwire::ClosedError, Sealwire::DrainedError, Sealwire::TimeoutError
        nil
      end
    end

    # Waits for a message, however long that takes.
    def wait
      receive(timeout: nil)
    end

    # Sends each of the messages.
    def enqueue(*messages)
      messages.each { |message| send(message) }
      self
    end

    alias push enqueue
    alias dequeue receive
    alias pop receive

    def subscribe(topic = "")
      super
    end

    # Whether there was something to receive within the time, in seconds.
    def wait_readable(timeout = recv_timeout)
      !super.nil?
    end

    # Whether there was room to send within the time, in seconds.
    def wait_writable(timeout = send_timeout)
      !super.nil?
    end

    # A Promise of the first peer; its value is a Sealwire::Peer.
    def peer_connected
      Promise.new(presence, :connected)
    end

    # A Promise of the first peer that asks a PUB or XPUB for a topic.
    def subscriber_joined
      Promise.new(presence, :subscribed)
    end

    # A Promise of the moment when there were peers and the last of them has gone; its value is true.
    def all_peers_gone
      Promise.new(presence, :gone)
    end

    def connection_count
      peers.size
    end

    # With a block, calls it with a MonitorEvent for everything that happens to connections from now on,
    # in a thread of its own, and gives the MonitorTask of that. Without one, a Sealwire::Monitor.
    def monitor(verbose: false, &block)
      return super() unless block
      raise ArgumentError, "verbose: there are no events of single messages" if verbose

      MonitorTask.new(super(), &block)
    end

    def close(linger: nil)
      super
      nil
    rescue Sealwire::UnsentError
      nil
    end

    # Closes at once: what is queued is dropped, and counted as `:dropped_unsent`.
    def stop
      close(linger: 0)
    end

    private

    def attach(endpoint, default)
      case endpoint[0]
      when "@" then bind(endpoint[1..])
      when ">" then connect(endpoint[1..])
      else public_send(default, endpoint)
      end
    end

    def begin_with(topic)
      case socket_type
      when :SUB then subscribe(topic)
      when :XSUB then send("\x01".b + topic.b)
      else raise ArgumentError, "subscribe: is for SUB and XSUB, this is #{socket_type}"
      end
    end

    # Events are kept from the first endpoint on, as a promise may be asked for later. What keeps them
    # can be shared by Ractors; who waits for them cannot.
    def follow_events
      @events ||= monitor unless frozen?
    end

    def presence
      follow_events
      @presence ||= Presence.new(self, @events)
    end
  end
end
