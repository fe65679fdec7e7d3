# frozen_string_literal: true

require "sealwire"

# Times blocks beside each other: in turns, so that what else the machine does hits all alike, and by
# the fastest of many rounds.
module Measure
  ROUNDS = 15
  ROUND = 0.02

  module_function

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def times(count)
    begun = now
    count.times { yield }
    now - begun
  end

  # How often each block has to run to fill a round.
  def count(block)
    count = 1
    count *= 2 until times(count, &block) > ROUND / 2
    count * 2
  end

  # Seconds for one run of each block.
  def fastest(blocks)
    GC.start
    counts = blocks.transform_values { |block| count(block) }
    best = blocks.transform_values { Float::INFINITY }
    ROUNDS.times do
      blocks.each do |name, block|
        best[name] = [best[name], times(counts[name], &block) / counts[name]].min
      end
    end
    best
  end

  def size(bytes)
    return "#{bytes >> 20} MiB" if bytes >= 1 << 20
    return "#{bytes >> 10} KiB" if bytes >= 1 << 10

    "#{bytes} B"
  end

  def machine
    processor = File.read("/proc/cpuinfo")[/^model name\s*: (.*)$/, 1] if File.exist?("/proc/cpuinfo")
    "#{processor || RUBY_PLATFORM}, Ruby #{RUBY_VERSION}, #{Time.now.strftime("%Y-%m-%d")}"
  end
end
