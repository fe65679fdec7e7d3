# frozen_string_literal: true

require "fiddle"
require "fiddle/import"

# libzmq as it is on this machine, without a gem.
module Libzmq
  extend Fiddle::Importer
  begin
    dlload "libzmq.so.5"
    AVAILABLE = true
  rescue Fiddle::DLError
    AVAILABLE = false
  end

  if AVAILABLE
    extern "void *zmq_ctx_new()"
    extern "int zmq_ctx_term(void *)"
    extern "void *zmq_socket(void *, int)"
    extern "int zmq_close(void *)"
    extern "int zmq_setsockopt(void *, int, void *, size_t)"
    extern "int zmq_getsockopt(void *, int, void *, void *)"
    extern "int zmq_bind(void *, const char *)"
    extern "int zmq_connect(void *, const char *)"
    extern "int zmq_send(void *, void *, size_t, int)"
    extern "int zmq_recv(void *, void *, size_t, int)"
    extern "int zmq_errno()"
    extern "const char *zmq_strerror(int)"
  end

  TYPES = { PAIR: 0, PUB: 1, SUB: 2, REQ: 3, REP: 4, DEALER: 5, ROUTER: 6, PULL: 7, PUSH: 8, XPUB: 9, XSUB: 10 }.freeze
  OPTIONS = {
    subscribe: 6, linger: 17, rcvmore: 13, rcvtimeo: 27, sndtimeo: 28, last_endpoint: 32,
    curve_server: 47, curve_publickey: 48, curve_secretkey: 49, curve_serverkey: 50
  }.freeze
  SNDMORE = 2
  LARGEST = 1 << 20

  # A socket of libzmq.
  class Socket
    def initialize(type, timeout)
      @context = Libzmq.zmq_ctx_new
      @socket = Libzmq.zmq_socket(@context, TYPES.fetch(type))
      set(:linger, 0)
      set(:rcvtimeo, timeout * 1000)
      set(:sndtimeo, timeout * 1000)
    end

    def set(option, value)
      bytes = value.is_a?(Integer) ? [value].pack("i") : value
      check Libzmq.zmq_setsockopt(@socket, OPTIONS.fetch(option), bytes, bytes.bytesize)
    end

    def bind(endpoint)
      check Libzmq.zmq_bind(@socket, endpoint)
      text, size = "\0" * 256, [256].pack("J")
      check Libzmq.zmq_getsockopt(@socket, OPTIONS.fetch(:last_endpoint), text, size)
      text[0, size.unpack1("J") - 1]
    end

    def connect(endpoint)
      check Libzmq.zmq_connect(@socket, endpoint)
    end

    def send(*frames)
      frames.each.with_index(1) do |frame, number|
        check Libzmq.zmq_send(@socket, frame, frame.bytesize, number < frames.size ? SNDMORE : 0)
      end
    end

    def receive
      frames = []
      buffer = "\0".b * LARGEST
      loop do
        frames << buffer[0, check(Libzmq.zmq_recv(@socket, buffer, LARGEST, 0))]
        more, size = [0].pack("i"), [4].pack("J")
        check Libzmq.zmq_getsockopt(@socket, OPTIONS.fetch(:rcvmore), more, size)
        return frames if more.unpack1("i").zero?
      end
    end

    def close
      Libzmq.zmq_close(@socket)
      Libzmq.zmq_ctx_term(@context)
    end

    private

    def check(result)
      return result unless result == -1

      raise "libzmq: #{Libzmq.zmq_strerror(Libzmq.zmq_errno)}"
    end
  end
end
