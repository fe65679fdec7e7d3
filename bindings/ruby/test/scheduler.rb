# frozen_string_literal: true

require "io/wait"

# A scheduler of fibers with what the tests need: waiting for descriptors and for time, and being
# woken by other threads. Everything happens in one thread, so nothing but `unblock` takes a lock.
class MinimalScheduler
  def initialize
    @readable = {}
    @writable = {}
    @sleeping = {}
    @blocked = {}
    @unblocked = []
    @lock = Thread::Mutex.new
    @urgent = IO.pipe
  end

  # How often a fiber waited for a descriptor.
  attr_reader :waits

  def run
    until [@readable, @writable, @sleeping, @blocked].all?(&:empty?) && @unblocked.empty?
      ready, room, = IO.select(@readable.keys + [@urgent[0]], @writable.keys, nil, pause)
      @urgent[0].read_nonblock(1024, exception: false) if ready&.delete(@urgent[0])
      resume(Array(ready).map { |io| @readable.delete(io) } + Array(room).map { |io| @writable.delete(io) })
      woken = @lock.synchronize { @unblocked.slice!(0..) }
      resume(woken.each { |fiber| @blocked.delete(fiber) })
      due = @sleeping.select { |_fiber, time| time <= now }.keys
      resume(due.each { |fiber| @sleeping.delete(fiber) })
    end
  end

  def close
    run
  ensure
    @urgent.each(&:close)
  end

  def io_wait(io, events, timeout = nil)
    @waits = waits.to_i + 1
    @sleeping[Fiber.current] = now + timeout if timeout
    @readable[io] = Fiber.current if (events & IO::READABLE).nonzero?
    @writable[io] = Fiber.current if (events & IO::WRITABLE).nonzero?
    Fiber.yield
    timely = !timeout || @sleeping.delete(Fiber.current)
    @readable.delete(io)
    @writable.delete(io)
    timely ? events : false
  end

  def kernel_sleep(duration = nil)
    block(:sleep, duration)
  end

  def block(_blocker, timeout = nil)
    timeout ? @sleeping[Fiber.current] = now + timeout : @blocked[Fiber.current] = true
    Fiber.yield
    true
  end

  def unblock(_blocker, fiber)
    @lock.synchronize { @unblocked << fiber }
    @urgent[1].write_nonblock(".", exception: false)
  end

  def fiber(&block)
    Fiber.new(blocking: false, &block).tap(&:resume)
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def pause
    return 0 unless @unblocked.empty?

    first = @sleeping.values.min
    first && [first - now, 0].max
  end

  def resume(fibers)
    fibers.compact.uniq.each { |fiber| fiber.resume if fiber.alive? }
  end
end
