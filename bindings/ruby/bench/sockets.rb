# frozen_string_literal: true

# Handshakes, round trips and streams of messages over loopback, by mechanism: ruby bench/sockets.rb
#
# Both ends are in this process, which has one interpreter for them.
require_relative "measure"

MECHANISMS = %i[null curve blake3].freeze
TIMEOUT = 60

SERVER_KEYS = Sealwire::KeyPair.generate
CLIENT_KEYS = Sealwire::KeyPair.generate

def security(mechanism, side)
  return Sealwire::Security.plain_text if mechanism == :null

  own = side == :server ? { keys: SERVER_KEYS, allow: [CLIENT_KEYS.public_key] } : { server_key: SERVER_KEYS.public_key, keys: CLIENT_KEYS }
  Sealwire::Security.public_send(:"#{mechanism}_#{side}", **own)
end

def pair(server, client, mechanism)
  one = Sealwire.const_get(server).new(security: security(mechanism, :server), recv_timeout: TIMEOUT, linger: 0)
  other = Sealwire.const_get(client).new(security: security(mechanism, :client), recv_timeout: TIMEOUT, linger: 0)
  other.connect(one.bind("tcp://127.0.0.1:0"))
  [one, other]
end

# The middle of the times for connecting, shaking hands, and one request and its answer.
def handshake(mechanism)
  server = Sealwire::REP.new(security: security(mechanism, :server), recv_timeout: TIMEOUT, linger: 0)
  endpoint = server.bind("tcp://127.0.0.1:0")
  times = Array.new(60) do
    Measure.times(1) do
      client = Sealwire::REQ.new(security: security(mechanism, :client), recv_timeout: TIMEOUT, linger: 0)
      client.connect(endpoint)
      client << "x"
      server.receive
      server << "x"
      client.receive
      client.close
    end
  end
  server.close
  times.sort[times.size / 2]
end

def round_trip(mechanism, size)
  server, client = pair(:REP, :REQ, mechanism)
  answering = Thread.new { server.each { |message| server << message } }
  payload = Random.bytes(size)
  trip = Measure.times(1000) { (client << payload).receive } / 1000
  client.close
  server.close
  answering.join
  trip
end

def throughput(mechanism, size)
  pull, push = pair(:PULL, :PUSH, mechanism)
  payload = Random.bytes(size)
  count = [200_000, (256 << 20) / size].min
  sending = Thread.new { count.times { push << payload } }
  time = Measure.times(1) do
    left = count
    left -= pull.receive_many(1000).size while left.positive?
  end
  sending.join
  [push, pull].each(&:close)
  time / count
end

# The best of several rounds, in which the mechanisms take turns: what else the machine does hits all.
def fastest
  rounds = Array.new(5) { MECHANISMS.map { |mechanism| yield mechanism } }
  rounds.transpose.map(&:min)
end

puts Measure.machine, ""
puts "| | #{MECHANISMS.map(&:to_s).map(&:upcase).join(" | ")} | BLAKE3 to CURVE |"
puts "|---|#{"---|" * (MECHANISMS.size + 1)}"
row = lambda do |name, values, pattern, ratio|
  puts format("| %s | %s | %.2f |", name, values.map { |value| format(pattern, value) }.join(" | "), ratio)
end
times = fastest { |mechanism| handshake(mechanism) }.map { |time| time * 1e6 }
row.call("connection, with one request, us", times, "%.0f", times[1] / times[2])
[64, 4096].each do |size|
  times = fastest { |mechanism| round_trip(mechanism, size) }.map { |time| time * 1e6 }
  row.call("round trip of #{Measure.size(size)}, us", times, "%.1f", times[1] / times[2])
end
[64, 1 << 10, 16 << 10, 256 << 10].each do |size|
  rates = fastest { |mechanism| throughput(mechanism, size) }.map { |time| 1 / time }
  row.call("messages of #{Measure.size(size)} a second", rates, "%.0f", rates[2] / rates[1])
end
