# frozen_string_literal: true

require_relative "helper"
require_relative "scheduler"

class FiberTest < SealwireTest
  # Runs the block under a scheduler, in a thread of its own, and gives the scheduler.
  def scheduled
    Thread.new do
      scheduler = MinimalScheduler.new
      Fiber.set_scheduler(scheduler)
      yield
      scheduler.run
      scheduler
    end.value
  end

  def test_fibers_talk_to_each_other_in_one_thread
    heard = []
    scheduler = scheduled do
      server, client = connected(:REP, :REQ, mechanism: :blake3)
      Fiber.schedule do
        3.times { server << "re: #{server.receive}" }
      end
      Fiber.schedule do
        3.times do |number|
          client << "question #{number}"
          heard << client.receive.to_s
        end
      end
    end
    assert_equal ["re: question 0", "re: question 1", "re: question 2"], heard
    assert_operator scheduler.waits, :>=, 3
  end

  def test_other_fibers_run_while_one_waits
    order = []
    pull, push = connected(:PULL, :PUSH)
    scheduled do
      Fiber.schedule do
        order << :waiting
        order << pull.receive.to_s
      end
      Fiber.schedule do
        order << :sending
        push << "message"
      end
    end
    assert_equal [:waiting, :sending, "message"], order
  end

  def test_a_limit_in_a_fiber
    error = nil
    ticks = 0
    pull = socket(:PULL)
    pull.bind("tcp://127.0.0.1:0")
    scheduled do
      Fiber.schedule { error = assert_raises(Sealwire::TimeoutError) { pull.receive(timeout: 0.05) } }
      Fiber.schedule do
        until error
          ticks += 1
          sleep 0.001
        end
      end
    end
    assert_match(/no message came/, error.message)
    assert_operator ticks, :>, 0
  end

  def test_many_fibers_share_a_socket
    received = []
    scheduled do
      pull, push = connected(:PULL, :PUSH)
      10.times { Fiber.schedule { 10.times { received << pull.receive.to_s } } }
      Fiber.schedule { 100.times { |number| push << number.to_s } }
    end
    assert_equal 100.times.map(&:to_s), received.sort_by(&:to_i)
  end

  def test_a_sender_in_a_fiber_waits_for_room
    received = []
    scheduled do
      pull, push = socket(:PULL, recv_hwm: 1), socket(:PUSH, send_hwm: 1)
      push.connect(pull.bind("inproc://fiber-room"))
      Fiber.schedule { 20.times { |number| push << number.to_s } }
      Fiber.schedule { 20.times { received << pull.receive.to_s } }
    end
    assert_equal 20.times.map(&:to_s), received
  end

  def test_monitors_and_closing_in_fibers
    names = []
    scheduled do
      pull, push = socket(:PULL), socket(:PUSH)
      monitor = pull.monitor
      Fiber.schedule { monitor.each { |event| names << event.name } }
      Fiber.schedule do
        push.connect(pull.bind("tcp://127.0.0.1:0"))
        push << "x"
        pull.receive
        pull.close
      end
    end
    assert_equal %i[listening accepted ready], names.first(3)
  end

  def test_a_blocking_fiber_waits_as_a_thread_does
    pull, push = connected(:PULL, :PUSH)
    Thread.new { push << "message" }
    assert_equal "message", Fiber.new(blocking: true) { pull.receive.to_s }.resume
  end
end
