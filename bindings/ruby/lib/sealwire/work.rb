# frozen_string_literal: true

module Sealwire
  # A task without an outcome: one that was set aside, or one that was left at the end.
  class UnfinishedTask
    attr_reader :number, :attempts, :reason, :body

    def initialize(number, attempts, reason, is_set_aside, body)
      @number = number
      @attempts = attempts
      @reason = reason
      @is_set_aside = is_set_aside
      @body = body
      freeze
    end

    def set_aside?
      @is_set_aside
    end
  end

  # The outcome of a task.
  class Outcome
    attr_reader :number, :result, :set_aside

    def initialize(number, result, aside)
      @number = number
      @result = result
      @set_aside = aside && UnfinishedTask.new(*aside)
      freeze
    end

    def done?
      @set_aside.nil?
    end
  end

  class UnfinishedError
    attr_reader :tasks

    def initialize(tasks = [])
      @tasks = tasks
      count = tasks.count { |task| !task.set_aside? }
      super("#{count} tasks had no outcome when the distributor was shut down: wait with join, or keep what shutdown returns")
    end
  end

  class Task
    # Says that the work is done, with a result.
    def done(result = "")
      done_with(result)
    end

    # Says that the attempt has failed, and why.
    def fail(reason = "")
      fail_with(reason)
    end

    def inspect
      "#<Sealwire::Task #{number.unpack1("H*")} of #{body.bytesize} bytes, attempt #{attempt}>"
    end
  end

  # Hands tasks out to workers, and keeps each until one says that it is done.
  class Distributor
    # With a block the distributor is shut down after it, which raises UnfinishedError if tasks had no outcome.
    def self.open(**options)
      distributor = new(**options)
      return distributor unless block_given?

      begin
        given = yield distributor
        is_over = true
      ensure
        left = distributor.shutdown
        # Not instead of what ended the block.
        raise UnfinishedError, left if is_over && left.any? { |task| !task.set_aside? }
      end
      given
    end

    def initialize(security:, context: nil, **options)
      make(security, context, options)
    end

    # Adds a task, and waits for room.
    def add(task, timeout: nil)
      add_within(task, timeout)
    end

    def <<(task)
      add(task)
      self
    end

    # Takes the outcome of a task, and waits for one.
    def outcome(timeout: nil)
      Outcome.new(*outcome_within(timeout))
    end

    # Takes the outcome of a task if there is one.
    def try_outcome
      told = outcome_now
      told && Outcome.new(*told)
    end

    # The tasks that have failed as often as they may.
    def set_aside
      aside.map { |task| UnfinishedTask.new(*task) }
    end

    # Forgets a task that was set aside.
    def drop_aside(number)
      task = dropped(number)
      task && UnfinishedTask.new(*task)
    end

    # Waits until each task is done or set aside.
    def join(timeout: nil)
      join_within(timeout)
      self
    end

    # Hands out no more tasks, waits for those that are with workers, and gives the tasks without an outcome.
    def shutdown(timeout: 3)
      end_within(timeout).map { |task| UnfinishedTask.new(*task) }
    end
  end

  # Takes tasks of a distributor.
  class Worker
    # With a block the worker leaves after it.
    def self.open(*arguments, **options)
      worker = new(*arguments, **options)
      return worker unless block_given?

      begin
        yield worker
      ensure
        worker.close
      end
    end

    def initialize(endpoint, security:, context: nil, **options)
      make(endpoint, security, context, options)
      RPC.remember(self)
    end

    # Takes a task, and waits for one.
    def take(timeout: nil)
      take_within(timeout)
    end

    # Yields tasks until the worker leaves. One that the block gives no outcome has failed.
    def each_task
      raise ArgumentError, "each_task takes a block" unless block_given?

      while (task = next_task)
        begin
          yield task
        rescue StandardError => e
          task.fail("#{e.class}: #{e.message}".encode("UTF-8", invalid: :replace, undef: :replace)) unless task.ended?
          raise
        ensure
          task.fail("the block gave it no outcome") unless task.ended?
        end
      end
      self
    end

    # Leaves in good order.
    def leave(timeout: nil)
      leave_within(timeout)
    end

    # Leaves in good order; `false` when the time was not enough.
    def close(timeout: 10)
      leave(timeout: timeout)
      true
    rescue ShutDownError
      true
    rescue TimeoutError
      false
    end

    private

    def next_task
      take
    rescue ShutDownError
      nil
    end
  end
end
