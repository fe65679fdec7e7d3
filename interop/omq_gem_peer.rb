#!/usr/bin/env ruby
# frozen_string_literal: true

# The gem omq with omq-blake3zmq, driven by a test: NULL, and BLAKE3ZMQ with the continuous keystream.
#
# Arguments, payloads and events are those of the other peers; README.md describes them. Only names of the
# gems are used, which the package sealwire for Ruby has too.

require "digest"
require "io/wait"
require "json"
require "optparse"
require "timeout"
require "omq"
require "omq/blake3zmq"

KINDS = %w[pair pub sub xpub xsub req rep dealer router push pull].freeze
SHOWN_WHOLE = 256
SYNC_PERIOD = 0.01
LINGER = 5

def arguments
  options = {
    mechanism: "null", allow: [], identity: "", subscribe: [], topic: "", send: 0, size: [16], parts: 1, recv: 0, timeout_s: 30
  }
  OptionParser.new do |parser|
    parser.on("--type TYPE", KINDS)
    parser.on("--bind ENDPOINT")
    parser.on("--connect ENDPOINT")
    parser.on("--mechanism NAME", %w[null blake3])
    parser.on("--server")
    parser.on("--secret-key HEX")
    parser.on("--server-key HEX")
    parser.on("--allow HEX") { |key| options[:allow] << key }
    parser.on("--identity TEXT")
    parser.on("--subscribe TEXT") { |topic| options[:subscribe] << topic }
    parser.on("--topic TEXT")
    parser.on("--send N", Integer)
    parser.on("--size BYTES") { |sizes| options[:size] = sizes.split(",").map { |size| Integer(size) } }
    parser.on("--parts P", Integer)
    parser.on("--recv N", Integer)
    %w[cancel echo delimiter lockstep].each { |flag| parser.on("--#{flag}") }
    parser.on("--heartbeat-ms N", Integer)
    parser.on("--timeout-s N", Integer)
    parser.parse!(into: collected = {})
    collected.each do |name, value|
      key = name.to_s.tr("-", "_").to_sym
      options[key] = value unless %i[allow subscribe size].include?(key)
    end
  end
  options
end

def report(event, **fields)
  puts JSON.generate({ event: event, **fields })
  $stdout.flush
end

def report_message(parts)
  described = parts.map do |part|
    content = part.bytesize <= SHOWN_WHOLE ? { hex: part.unpack1("H*") } : { sha256: Digest::SHA256.hexdigest(part) }
    { length: part.bytesize, **content }
  end
  report("message", parts: described)
end

def payload(topic, index, parts, sizes)
  ring = (0...251).to_a.pack("C*") * (sizes.max / 251 + 2)
  message = Array.new(parts) do |part|
    ring.byteslice((7 * part + 13 * index) % 251, sizes[(index + part) % sizes.size])
  end
  message[0] = topic.b + message[0]
  message
end

# What a peer does, by socket type.
class Script
  def initialize(options, socket)
    @options = options
    @socket = socket
  end

  def run
    options = @options
    lockstep = options[:lockstep] || options[:type] == "req"
    if options[:type] == "pub" then sync_until_told
    elsif options[:type] == "xpub" && options[:send].positive? then report_message(@socket.receive)
    end
    received = 0
    options[:send].times do |index|
      message = payload(options[:topic], index, options[:parts], options[:size])
      @socket.send(options[:delimiter] ? ["", *message] : message)
      next unless lockstep

      receive_and_report
      received += 1
    end
    echoes = options[:echo] || %w[rep router].include?(options[:type])
    while !lockstep && received < options[:recv]
      message = receive_and_report
      received += 1
      @socket.send(message) if echoes
    end
    unsubscribe if options[:cancel]
    report("done", sent: options[:send] + (echoes ? received : 0), received: received)
  end

  private

  def receive_and_report
    synced = false
    loop do
      message = @socket.receive
      if %w[sub xsub].include?(@options[:type]) && message.size == 1 && message[0].end_with?("\0sync")
        report("synced") unless synced
        synced = true
        next
      end
      report_message(@options[:delimiter] && message[0].empty? ? message.drop(1) : message)
      return message
    end
  end

  def unsubscribe
    topics(@options).each do |topic|
      @options[:type] == "sub" ? @socket.unsubscribe(topic) : @socket.send("\x00#{topic}".b)
    end
  end

  # A publisher cannot know when it has subscribers: it repeats this until a line says so.
  def sync_until_told
    loop do
      @socket.send("#{@options[:topic]}\0sync".b)
      return $stdin.gets if $stdin.wait_readable(SYNC_PERIOD)
    end
  end
end

def topics(options)
  options[:subscribe].empty? ? [""] : options[:subscribe]
end

def mechanism(options)
  return Protocol::ZMTP::Mechanism::Null.new if options[:mechanism] == "null"

  own = options[:secret_key] && OMQ::Blake3ZMQ::Crypto::PrivateKey.new([options[:secret_key]].pack("H*"))
  keys = own ? { public_key: own.public_key.to_s, secret_key: own.to_s } : {}
  blake3 = Protocol::ZMTP::Mechanism::Blake3
  mechanism =
    if options[:server]
      allowed = options[:allow].map { |key| [key].pack("H*") }
      decide = ->(peer) { allowed.include?(peer.public_key.to_s) }
      blake3.server(**keys, authenticator: allowed.empty? ? nil : decide)
    else
      blake3.client(server_key: [options[:server_key]].pack("H*"), **keys)
    end
  # Sealwire has the gem's data phase when it is asked for.
  continuous = :with_continuous_keystream_unauthenticated_order
  mechanism.respond_to?(continuous) ? mechanism.public_send(continuous) : mechanism
end

options = arguments
socket = OMQ.const_get(options[:type].upcase).new
socket.linger = LINGER
socket.identity = options[:identity] unless options[:identity].empty?
socket.heartbeat_interval = options[:heartbeat_ms] / 1000.0 if options[:heartbeat_ms]
socket.mechanism = mechanism(options)
topics(options).each { |topic| socket.subscribe(topic) } if options[:type] == "sub"
endpoint = options[:bind] ? socket.bind(options[:bind]).to_s : socket.connect(options[:connect]).to_s
report("ready", endpoint: endpoint)
topics(options).each { |topic| socket.send("\x01#{topic}".b) } if options[:type] == "xsub"
status = 0
begin
  Timeout.timeout(options[:timeout_s]) { Script.new(options, socket).run }
  # Held open so that what was sent can be read at leisure.
  $stdin.read
rescue StandardError => error
  report("error", reason: error.message)
  status = 1
end
socket.close
exit status
