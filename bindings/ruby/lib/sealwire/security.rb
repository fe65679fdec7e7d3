# frozen_string_literal: true

module Sealwire
  # The mechanism of a socket, with its keys.
  #
  # `allow:` says who may connect to a server, and has no default:
  #
  # * `:anyone`: everybody who knows the server's public key;
  # * an Array of public keys, or a Hash of public keys and names (PLAIN: of usernames and passwords);
  # * a Pathname: a file or directory of allowed keys (PLAIN: a file of usernames and passwords), read
  #   again when it changes;
  # * a callable, or a block: it gets a Client, and returns a name or `true` to let it in, `nil`,
  #   `false` or a Refusal to turn it away.
  class Security
    class << self
      # PLAIN: a username and a password, not encrypted.
      def plain_client(username:, password:)
        plain_client_with(username, password)
      end

      def plain_server(allow: nil, &block)
        allow = one_of(allow, block)
        plain_server_with(
          if allow.is_a?(Hash) then Authenticator.passwords(allow)
          elsif allow.respond_to?(:to_path) then Authenticator.password_file(allow.to_path)
          else Authenticator.from(allow)
          end
        )
      end

      # CURVE, for peers that speak libzmq's mechanism.
      def curve_client(server_key:, keys:)
        curve_client_with(server_key, keys)
      end

      def curve_server(keys:, allow: nil, &block)
        curve_server_with(keys, Authenticator.from(one_of(allow, block)))
      end

      # CURVE with a server that skips numbers of frames, which libzmq does not. Someone on the path can
      # drop frames then, and nobody notices; a warning event says so on every connection.
      def curve_client_accepting_gaps_unauthenticated_order(server_key:, keys:)
        curve_client_accepting_gaps_with(server_key, keys)
      end

      # The same for clients that skip numbers.
      def curve_server_accepting_gaps_unauthenticated_order(keys:, allow: nil, &block)
        curve_server_accepting_gaps_with(keys, Authenticator.from(one_of(allow, block)))
      end

      # BLAKE3ZMQ. Without keys the client stays anonymous.
      def blake3_client(server_key:, keys: nil)
        blake3_client_with(server_key, keys)
      end

      def blake3_server(keys:, allow: nil, &block)
        blake3_server_with(keys, Authenticator.from(one_of(allow, block)))
      end

      private

      def one_of(allow, block)
        raise ArgumentError, "a server needs allow: or a block, and not both" if allow.nil? == block.nil?

        allow.nil? ? block : allow
      end
    end

    private_class_method :plain_client_with, :plain_server_with, :curve_client_with,
                         :curve_server_with, :curve_client_accepting_gaps_with,
                         :curve_server_accepting_gaps_with, :blake3_client_with, :blake3_server_with
  end
end
