# frozen_string_literal: true

module Sealwire
  # A number of a context.
  class Metric
    attr_reader :name, :labels, :value

    def initialize(name, labels, value)
      @name = name.freeze
      @labels = labels.each_value(&:freeze).freeze
      @value = value
      freeze
    end

    def to_s
      "#{name}{#{labels.map { |label, text| "#{label}=#{text.dump}" }.join(",")}} #{value}"
    end
    alias inspect to_s
  end

  class Context
    # The numbers of this context, its sockets, endpoints and peers.
    def metrics
      numbers.map { |number| Metric.new(*number) }
    end
  end

  # The numbers of the context that sockets share which were given no other.
  def self.metrics
    numbers.map { |number| Metric.new(*number) }
  end
end
