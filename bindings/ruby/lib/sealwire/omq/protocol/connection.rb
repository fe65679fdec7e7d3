# frozen_string_literal: true

module Protocol
  module ZMTP
    # Which socket types fit.
    VALID_PEERS = {
      PAIR: %i[PAIR], PUB: %i[SUB XSUB], SUB: %i[PUB XPUB], XPUB: %i[SUB XSUB], XSUB: %i[PUB XPUB],
      REQ: %i[REP ROUTER], REP: %i[REQ DEALER], DEALER: %i[REP DEALER ROUTER], ROUTER: %i[REQ DEALER ROUTER],
      PUSH: %i[PULL], PULL: %i[PUSH], CLIENT: %i[SERVER], SERVER: %i[CLIENT], RADIO: %i[DISH], DISH: %i[RADIO],
      SCATTER: %i[GATHER], GATHER: %i[SCATTER], PEER: %i[PEER], CHANNEL: %i[CHANNEL]
    }.freeze

    # One connection over an IO: anything with `write`, `close`, and `read(size)` that gives that many bytes
    # unless the peer is gone, or `read_exactly(size)`. Without queues, routing and reconnecting, which
    # sockets have; without a time limit, also in the handshake; and with secrets in strings of Ruby, which nobody wipes.
    #
    # An exception in any of these, also of Timeout, closes the IO: where a frame ends is not known any more. Threads
    # may send at the same time; one receives.
    class Connection
      # Bytes of a message, frames together.
      DEFAULT_MAX_MESSAGE_SIZE = 64 << 20
      # Frames of a message.
      MAX_FRAMES = 65_536

      attr_reader :io, :peer_socket_type, :peer_identity, :peer_public_key, :peer_properties, :peer_major, :peer_minor,
                  :last_received_at

      # Other keywords are properties that the peer is told. The role in the handshake is that of the mechanism.
      def initialize(io, socket_type:, identity: "", as_server: false, mechanism: Mechanism::Null.new,
                     max_message_size: DEFAULT_MAX_MESSAGE_SIZE, **properties)
        @io = io
        @socket_type = socket_type.to_s
        raise ArgumentError, "there is no socket type #{socket_type}" unless VALID_PEERS.key?(@socket_type.to_sym)

        @identity = identity
        @as_server = as_server
        # Its state is that of one connection.
        @mechanism = mechanism.dup
        @max_message_size = max_message_size
        @properties = properties.transform_keys(&:to_s)
        @writing = Mutex.new
      end

      # Greets the peer and proves who is who. Nothing is to be sent or received before.
      def handshake!
        closing_after_errors do
          raise Error, "the handshake is done" if @peer_socket_type

          info = @mechanism.handshake!(
            @io, as_server: @as_server, socket_type: @socket_type, identity: @identity, metadata: @properties
          )
          check_type(info[:peer_socket_type])
          learn(info)
        end
        nil
      end

      # The peer's key and identity, or nil before the handshake.
      def peer_info
        @peer_socket_type && PeerInfo.new(public_key: @peer_public_key, identity: @peer_identity)
      end

      def encrypted?
        @mechanism.encrypted?
      end

      # Sends the frames of a message.
      def send_message(frames)
        raise ArgumentError, "a message has at least one frame" if frames.empty?

        last = frames.size - 1
        send_frames { |wire| frames.each_with_index { |frame, index| wire << protect(frame.b, more: index < last) } }
      end

      # Sends a Codec::Command.
      def send_command(command)
        send_frames { |wire| wire << protect(command.to_body, command: true) }
      end

      # Waits for a message, and gives its frames. A block gets the frames of commands that come before its end.
      # Raises EOFError when the peer has closed the connection.
      def receive_message
        frames = []
        left = @max_message_size
        loop do
          frame = read_frame(left)
          if frame.command?
            yield frame if block_given?
            next
          end
          frames << frame.body
          return frames unless frame.more?

          left -= frame.body.bytesize if left
          closing_after_errors { raise Error, "a message has more than #{MAX_FRAMES} frames" } if frames.size == MAX_FRAMES
        end
      end

      # Waits for a frame that is not a PING, which is answered, and not a PONG.
      def read_frame(most = @max_message_size)
        check_ready
        closing_after_errors do
          loop do
            frame = receive_frame(most)
            break frame unless frame.command?

            command = Codec::Command.from_body(frame.body)
            case command.name
            when "PING" then send_command(Codec::Command.new("PONG", command.data.byteslice(2, 16) || ""))
            when "PONG" then next
            else break frame
            end
          end
        end
      end

      # Whether nothing came for this number of seconds. Not before something came.
      def heartbeat_expired?(timeout)
        !last_received_at.nil? && now - last_received_at > timeout
      end

      def close
        @io.close
      rescue IOError, SystemCallError
        nil
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def learn(info)
        @peer_identity, @peer_properties, @peer_public_key, @peer_major, @peer_minor, @peer_socket_type =
          info.values_at(:peer_identity, :peer_properties, :peer_public_key, :peer_major, :peer_minor, :peer_socket_type)
      end

      def check_ready
        raise Error, "handshake! comes first" unless @peer_socket_type
      end

      def check_type(type)
        raise Error, "the peer does not say its socket type" unless type
        return if VALID_PEERS.fetch(@socket_type.to_sym).include?(type.to_sym)

        raise Error, "a #{@socket_type} and a #{type.inspect} do not fit"
      end

      def protect(body, more: false, command: false)
        return @mechanism.encrypt(body, more: more, command: command) if encrypted?

        Codec::Frame.new(body, more: more, command: command).to_wire
      end

      # In one write, in the order of nonces.
      def send_frames
        check_ready
        @writing.synchronize do
          closing_after_errors do
            wire = "".b
            yield wire
            Codec.write(@io, wire)
          end
        end
        nil
      end

      def receive_frame(most)
        overhead = encrypted? ? OMQ::Blake3ZMQ::Crypto::TAG_SIZE : 0
        frame = Codec::Frame.read_from(@io, max_message_size: most && most + overhead)
        @last_received_at = now
        encrypted? ? @mechanism.decrypt(frame) : frame
      end

      # Also after a thread was ended: what would come next cannot be told from what somebody made up.
      def closing_after_errors
        done = false
        value = yield
        done = true
        value
      ensure
        close unless done
      end
    end
  end
end
