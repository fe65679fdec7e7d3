# frozen_string_literal: true

require_relative "helper"

# Acknowledged work: nothing is lost, whatever becomes of workers.
class WorkTest < SealwireTest
  # Seconds, for waits that end without what they wait for.
  SHORT = 0.005
  TASKS = 3_000

  def setup
    super
    @server, @client = securities(:blake3)
    @ends = []
  end

  def teardown
    @ends.each { |one| one.is_a?(Sealwire::Worker) ? one.close(timeout: 0) : one.shutdown(timeout: 0) }
    super
  end

  def distributor(**options)
    made = Sealwire::Distributor.new(security: @server, retry_delay: 0, silence_limit: TIMEOUT, **options)
    @endpoint = made.bind("tcp://127.0.0.1:0")
    @ends << made
    made
  end

  def worker(**options)
    made = Sealwire::Worker.new(@endpoint, security: @client, silence_limit: TIMEOUT, **options)
    @ends << made
    made
  end

  def take(worker)
    worker.take(timeout: TIMEOUT)
  end

  def eventually(what)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + TIMEOUT
    until yield
      flunk what if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      sleep 0.001
    end
  end

  DOOMED = <<~RUBY
    require "sealwire"
    key = Sealwire::PublicKey.new(ARGV[1])
    worker = Sealwire::Worker.new(ARGV[0], security: Sealwire::Security.blake3_client(server_key: key))
    taken = Array.new(5) { worker.take }
    puts "taken"
    $stdout.flush
    sleep 120
  RUBY

  def doomed(key)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    IO.popen([RbConfig.ruby, "-W:no-experimental", *paths, "-e", DOOMED, @endpoint, key.to_s])
  end

  def test_of_three_workers_one_is_killed_and_nothing_is_lost
    keys = Sealwire::KeyPair.generate
    @server = Sealwire::Security.blake3_server(keys: keys, allow: :anyone)
    @client = Sealwire::Security.blake3_client(server_key: keys.public_key)
    distributor = self.distributor
    times = Hash.new(0)
    workers = [worker, worker]
    threads = workers.map do |worker|
      Thread.new do
        worker.each_task do |task|
          times[task.body] += 1
          task.done
        end
      end
    end
    killed = doomed(keys.public_key)
    eventually("all workers are there") { distributor.counters[:workers] == 3 }
    bodies = Array.new(TASKS) { |number| [number].pack("N") + "\0".b * 1_000 }
    bodies.first(TASKS / 3).each { |body| distributor.add(body, timeout: TIMEOUT) }
    assert_equal "taken\n", killed.gets
    # With those that it took, and with those in its buffers.
    Process.kill(:KILL, killed.pid)
    killed.close
    bodies.drop(TASKS / 3).each { |body| distributor.add(body, timeout: TIMEOUT) }
    assert_same distributor, distributor.join(timeout: TIMEOUT)
    workers.each { |worker| worker.leave(timeout: TIMEOUT) }
    threads.each { |thread| assert thread.join(TIMEOUT) }
    assert_equal bodies, times.keys.sort
    counters = distributor.counters
    assert_equal [TASKS, TASKS, 0, 0, 0, 0], counters.values_at(:added, :done, :pending, :set_aside, :out, :held_bytes)
    assert_operator counters[:lost], :>=, 5
    assert_equal counters[:lost], counters[:handed_out_again]
    assert_equal TASKS + counters[:lost] + counters[:returned], counters[:handed_out]
    assert_equal times.values.sum - TASKS, counters[:repeated]
    assert_equal [0] * 5, counters.values_at(:failed, :overdue, :foreign, :violations, :silent)
    assert_equal times.values.sum, workers.sum { |worker| worker.counters[:done] }
  end

  def test_repetitions_are_counted
    distributor = self.distributor(attempt_limit: 0.02)
    slow = worker(credit: 1)
    number = distributor.add("task")
    first = take(slow)
    eventually("the attempt is overdue") { distributor.counters[:overdue] == 1 }
    second = take(worker(credit: 1))
    assert_equal [number, number, 16], [first.number, second.number, number.bytesize]
    assert_equal [1, 2], [first.attempt, second.attempt]
    assert_includes second.inspect, number.unpack1("H*")
    first.done
    distributor.join(timeout: TIMEOUT)
    second.done
    eventually("the repetition is known") { distributor.counters[:repeated] == 1 }
    assert_equal 1, distributor.counters[:done]
    assert_operator distributor.counters[:late], :>=, 1
  end

  def test_what_fails_is_set_aside_put_back_and_dropped
    distributor = self.distributor(max_attempts: 2)
    worker = self.worker
    number = distributor.add("task")
    [2, 4].each do |attempts|
      take(worker).fail("no such file")
      take(worker).fail("never: ü")
      distributor.join(timeout: TIMEOUT)
      aside, = distributor.set_aside
      assert_equal [number, attempts, "never: ü", true, "task"], [aside.number, aside.attempts, aside.reason, aside.set_aside?, aside.body]
      assert_predicate aside, :frozen?
      assert_equal 1, distributor.counters[:set_aside]
      next if attempts == 4

      assert distributor.put_back(number)
      refute distributor.put_back(number)
    end
    assert_equal [4, 4], [distributor.counters[:failed], worker.counters[:failed]]
    assert_equal "task", distributor.drop_aside(number).body
    assert_nil distributor.drop_aside(number)
    assert_empty distributor.set_aside
  end

  def test_outcomes_come_one_by_one
    distributor = self.distributor(max_attempts: 2, keep_results: true, max_result: 8)
    worker = self.worker(credit: 1)
    assert_nil distributor.try_outcome
    assert_nil distributor.next_result
    assert_raises(Sealwire::TimeoutError) { distributor.outcome(timeout: SHORT) }
    first = distributor.add("first")
    task = take(worker)
    assert_equal ["first", 8], [task.body, task.max_result]
    assert_match(/9 bytes exceeds/, assert_raises(Sealwire::ResultTooLargeError) { task.done("123456789") }.message)
    task = take(worker)
    assert_equal 2, task.attempt
    task.done("12345678")
    outcome = distributor.outcome(timeout: TIMEOUT)
    assert_equal [first, "12345678", nil, true], [outcome.number, outcome.result, outcome.set_aside, outcome.done?]

    second = distributor.add("second")
    2.times { take(worker).fail("no") }
    outcome = distributor.outcome
    assert_equal [second, nil, false], [outcome.number, outcome.result, outcome.done?]
    assert_equal [second, 2, "no", "second"], outcome.set_aside.then { |task| [task.number, task.attempts, task.reason, task.body] }
    assert_empty distributor.set_aside

    third = distributor.add("third")
    take(worker).done
    distributor.join(timeout: TIMEOUT)
    assert_equal [third, ""], distributor.next_result
    third = distributor.add("third")
    take(worker).done("late")
    distributor.join(timeout: TIMEOUT)
    assert_empty distributor.shutdown
    outcome = distributor.try_outcome
    assert_equal [third, "late"], [outcome.number, outcome.result]
    assert_nil distributor.try_outcome
    assert_raises(Sealwire::ShutDownError) { distributor.outcome }
  end

  def test_a_full_distributor_says_so_or_waits
    distributor = self.distributor(max_tasks: 1, max_task: 8)
    distributor.try_add("first")
    assert_match(/1 tasks and 133 bytes/, assert_raises(Sealwire::FullError) { distributor.try_add("second") }.message)
    assert_raises(Sealwire::TimeoutError) { distributor.add("second", timeout: SHORT) }
    assert_raises(Sealwire::TaskTooLargeError) { distributor.add("123456789") }
    assert_raises(Sealwire::TimeoutError) { distributor.join(timeout: SHORT) }
    worker = self.worker
    adding = Thread.new { distributor << "second" }
    take(worker).done
    assert_same distributor, adding.value
    task = take(worker)
    assert_equal "second", task.body
    task.done
    distributor.join
    assert_nil worker.try_take
    assert_raises(Sealwire::TimeoutError) { worker.take(timeout: SHORT) }
    limited = self.distributor(max_bytes: 300)
    limited.try_add("x" * 100)
    assert_raises(Sealwire::FullError) { limited.try_add("x" * 100) }
  end

  def test_bounds_of_workers
    distributor = self.distributor(max_workers: 1)
    3.times { distributor.add("x" * 100) }
    worker = self.worker(credit_bytes: 128 + 100)
    first = take(worker)
    assert_predicate worker, :connected?
    assert_equal 1, distributor.counters[:out]
    other = self.worker
    first.done
    2.times { take(worker).done }
    distributor.join(timeout: TIMEOUT)
    refute_predicate other, :connected?
    worker.leave(timeout: TIMEOUT)
    eventually("there is room for the other") { other.connected? }
    other.leave(timeout: TIMEOUT)
    small = self.worker(max_task: 1)
    eventually("it is not let in") { distributor.counters[:violations].positive? }
    refute_predicate small, :connected?
  end

  def test_a_worker_that_leaves_repeats_nothing
    distributor = self.distributor
    leaving = worker(credit: 10)
    20.times { |number| distributor << number.to_s }
    begun = take(leaving)
    eventually("its credit is used up") { distributor.counters[:out] == 10 }
    take(leaving).give_back
    eventually("it has another") { distributor.counters[:returned] == 1 }
    left = Thread.new { leaving.leave(timeout: TIMEOUT) }
    eventually("the rest is given back") { distributor.counters[:out] == 1 }
    assert_raises(Sealwire::ShutDownError) { leaving.try_take }
    assert_predicate left, :alive?
    begun.done
    assert left.join(TIMEOUT)
    [-> { leaving.take }, -> { leaving.leave }, -> { leaving.try_take }].each do |ended|
      assert_raises(Sealwire::ShutDownError, &ended)
    end
    leaving.each_task { flunk "it has left" }
    assert leaving.close
    assert_equal [1, 2, 1], leaving.counters.values_at(:done, :taken, :connections)

    attempts = []
    Sealwire::Worker.open(@endpoint, security: @client) do |other|
      other.each_task do |task|
        attempts << task.attempt
        task.done
        break if attempts.size == 19
      end
    end
    distributor.join(timeout: TIMEOUT)
    assert_equal [1] * 19, attempts
    assert_equal [20, 0, 0, 0], distributor.counters.values_at(:done, :lost, :repeated, :handed_out_again)

    distributor << "kept"
    last = worker
    kept = take(last)
    assert_raises(Sealwire::TimeoutError) { last.leave(timeout: SHORT) }
    eventually("others may have it") { distributor.counters[:lost] == 1 }
    assert_raises(Sealwire::ShutDownError) { last.take }
    kept.done
    slow = worker
    held = take(slow)
    refute slow.close(timeout: SHORT)
    held.done
  end

  def test_what_is_left_comes_back
    distributor = self.distributor
    monitor = distributor.monitor
    worker = self.worker(credit: 1)
    watching = worker.monitor
    distributor << "done"
    numbers = [distributor.add("left"), distributor.add("too")]
    take(worker).done
    begun = take(worker)
    left = distributor.shutdown(timeout: SHORT)
    assert_equal numbers, left.map(&:number)
    assert_equal [[1, nil, false, "left"], [0, nil, false, "too"]], left.map { |task| [task.attempts, task.reason, task.set_aside?, task.body] }
    assert_empty distributor.shutdown
    ended = [-> { distributor << "x" }, -> { distributor.try_add("x") }, -> { distributor.join }, -> { distributor.bind("tcp://127.0.0.1:0") }]
    ended.each { |call| assert_raises(Sealwire::ShutDownError, &call) }
    await(monitor, :ready)
    await(watching, :disconnected)
    begun.done
  end

  def test_a_shutdown_waits_for_what_is_with_workers
    distributor = self.distributor
    worker = self.worker(credit: 1)
    distributor << "with a worker"
    waiting = distributor.add("waiting")
    task = take(worker)
    ending = Thread.new { distributor.shutdown(timeout: TIMEOUT) }
    eventually("nothing is added any more") do
      distributor.try_add("more")
      false
    rescue Sealwire::ShutDownError
      true
    end
    task.done
    assert_equal waiting, ending.value.first.number
    assert_equal 1, distributor.counters[:done]
  end

  def test_a_block_that_ends_before_its_tasks_says_so
    options = { security: @server, max_attempts: 1 }
    number = nil
    unfinished = assert_raises(Sealwire::UnfinishedError) do
      Sealwire::Distributor.open(**options) { |distributor| number = distributor.add("task") }
    end
    assert_match(/\A1 tasks had no outcome/, unfinished.message)
    assert_equal [number], unfinished.tasks.map(&:number)
    # Not instead of what went wrong before.
    assert_raises(KeyError) do
      Sealwire::Distributor.open(**options) do |distributor|
        distributor << "task"
        raise KeyError
      end
    end
    given = Sealwire::Distributor.open(**options) do |distributor|
      @endpoint = distributor.bind("tcp://127.0.0.1:0")
      distributor << "task"
      take(worker).fail
      distributor.join(timeout: TIMEOUT)
      :given
    end
    assert_equal :given, given
  end

  def test_a_block_gives_each_task_an_outcome
    distributor = self.distributor(max_attempts: 3)
    worker = self.worker
    number = distributor.add("task")
    assert_raises(KeyError) { worker.each_task { raise KeyError, "of the block \xff" } }
    worker.each_task { |task| break assert_equal 2, task.attempt }
    worker.each_task do |task|
      task.fail("said so")
      break
    end
    distributor.join(timeout: TIMEOUT)
    assert_equal "said so", distributor.drop_aside(number).reason
    reasons = ["KeyError: of the block \uFFFD", "the block gave it no outcome"].map do |reason|
      single = self.distributor(max_attempts: 1)
      one = self.worker
      single << "task"
      begin
        one.each_task { reason.start_with?("Key") ? raise(KeyError, "of the block \xff") : break }
      rescue KeyError
        nil
      end
      single.join(timeout: TIMEOUT)
      assert_equal reason, single.set_aside.first.reason
    end
    assert_equal 2, reasons.size
    assert_raises(ArgumentError) { worker.each_task }
  end

  def test_a_task_has_one_outcome
    distributor = self.distributor
    worker = self.worker
    distributor << "task"
    task = take(worker)
    assert_raises(TypeError) { task.done(7) }
    refute_predicate task, :ended?
    task.done
    assert_predicate task, :ended?
    [-> { task.done }, -> { task.fail }, -> { task.give_back }].each { |again| assert_raises(Sealwire::StateError, &again) }
    assert_equal ["task", 1, Encoding::BINARY, true], [task.body, task.attempt, task.body.encoding, task.body.frozen?]
    distributor.join(timeout: TIMEOUT)
    assert_equal [1, 0], distributor.counters.values_at(:done, :failed)
  end

  def test_wrong_arguments
    distributor = self.distributor
    [3, nil, :task].each { |wrong| assert_raises(TypeError) { distributor.add(wrong) } }
    ["", "x" * 15, "x" * 17].each do |number|
      assert_raises(ArgumentError) { distributor.put_back(number) }
      assert_raises(ArgumentError) { distributor.drop_aside(number) }
    end
    refute distributor.put_back("x" * 16)
    assert_raises(ArgumentError) { distributor.add("x", timeout: -1) }
    assert_raises(ArgumentError) { distributor.shutdown(timeout: -1) }
    assert_raises(Sealwire::EndpointError) { distributor.bind("nowhere") }
    assert_raises(Sealwire::EndpointError) { Sealwire::Worker.new("nowhere", security: @client) }
    assert_raises(RangeError) { worker(credit: -1) }
    assert_match(/no option max_workers: credit/, assert_raises(ArgumentError) { worker(max_workers: 1) }.message)
    assert_match(/no option credit: max_tasks/, assert_raises(ArgumentError) { self.distributor(credit: 1) }.message)
    assert_raises(ArgumentError) { self.distributor(attempt_limit: -1) }
    assert_raises(ArgumentError) { Sealwire::Distributor.new }
    assert_raises(Sealwire::StateError) { Sealwire::Worker.allocate.take }
    assert_raises(Sealwire::StateError) { Sealwire::Distributor.allocate.counters }
    assert_raises(Sealwire::StateError) { distributor.send(:initialize, security: @server) }
  end

  def until_asleep(thread)
    Timeout.timeout(TIMEOUT) { Thread.pass until thread.status == "sleep" || !thread.alive? }
  end

  def test_exceptions_end_each_wait_and_others_run_meanwhile
    distributor = self.distributor(max_tasks: 1)
    busy = worker
    distributor << "task"
    held = take(busy)
    idle = worker
    calls = {
      add: -> { distributor << "no room" }, join: -> { distributor.join }, outcome: -> { distributor.outcome },
      take: -> { idle.take }, leave: -> { busy.leave(timeout: 300) }, shutdown: -> { distributor.shutdown(timeout: 300) }
    }
    calls.each do |name, call|
      waiting = Thread.new do
        call.call
        :ended
      rescue KeyError
        :interrupted
      end
      until_asleep(waiting)
      waiting.raise(KeyError)
      assert_equal :interrupted, waiting.value, name
    end
    # The tasks are still to be had.
    assert_equal ["task"], distributor.shutdown(timeout: 0).map(&:body)
    held.done
  end

  def test_a_child_of_a_fork_makes_its_own
    skip "this system cannot fork" unless Process.respond_to?(:fork)
    distributor = self.distributor
    worker = self.worker
    distributor << "task"
    task = take(worker)
    number = "x" * 16
    calls = [
      -> { distributor << "x" }, -> { distributor.try_add("x") }, -> { distributor.join }, -> { distributor.outcome },
      -> { distributor.try_outcome }, -> { distributor.next_result }, -> { distributor.set_aside }, -> { distributor.put_back(number) },
      -> { distributor.drop_aside(number) }, -> { distributor.shutdown }, -> { distributor.counters }, -> { distributor.monitor },
      -> { distributor.bind("tcp://127.0.0.1:0") }, -> { worker.take }, -> { worker.try_take }, -> { worker.leave }, -> { worker.close },
      -> { worker.counters }, -> { worker.connected? }, -> { worker.monitor }, -> { task.done }, -> { task.fail },
      -> { task.give_back }, -> { task.ended? }
    ]
    child = fork do
      works = calls.select do |call|
        call.call
        true
      rescue Sealwire::ForkedError
        false
      end
      exit!(1) unless works.empty?
      own = Sealwire::Distributor.new(security: @server)
      other = Sealwire::Worker.new(own.bind("tcp://127.0.0.1:0"), security: @client)
      own << "made in the child"
      take(other).done
      own.join(timeout: TIMEOUT)
      exit!(0)
    end
    assert_equal 0, Process.wait2(child).last.exitstatus
    task.done
    distributor.join(timeout: TIMEOUT)
    assert_equal 1, distributor.counters[:handed_out]
  end

  def test_a_program_that_ends_tells_its_outcomes
    keys = Sealwire::KeyPair.generate
    @server = Sealwire::Security.blake3_server(keys: keys, allow: :anyone)
    distributor = self.distributor
    10.times { |number| distributor << number.to_s }
    in_another_ruby(<<~RUBY, @endpoint, keys.public_key.to_s)
      require "sealwire"
      key = Sealwire::PublicKey.new(ARGV[1])
      worker = Sealwire::Worker.new(ARGV[0], security: Sealwire::Security.blake3_client(server_key: key))
      Thread.pass until worker.counters[:received] == 10
      5.times { worker.take(timeout: 60).done }
    RUBY
    eventually("it has gone") { distributor.counters[:workers].zero? }
    assert_equal [5, 5, 0], distributor.counters.values_at(:done, :returned, :lost)
  end

  def test_the_end_of_a_block_waits_for_outcomes
    distributor = self.distributor
    distributor << "begun" << "given back"
    ending = nil
    Sealwire::Worker.open(@endpoint, security: @client, credit: 2) do |worker|
      task = take(worker)
      eventually("both are there") { worker.counters[:received] == 2 }
      ending = Thread.new do
        eventually("the worker leaves") { distributor.counters[:returned] == 1 }
        task.done
      end
    end
    assert ending.join(TIMEOUT)
    assert_equal [1, 0], distributor.counters.values_at(:done, :lost)
  end
end
