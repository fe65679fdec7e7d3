# frozen_string_literal: true

require_relative "helper"

class ReadmeTest < SealwireTest
  README = File.read(File.join(__dir__, "../README.md"))

  def blocks(text, language)
    text.scan(/^```#{language}\n(.*?)^```$/m).flatten
  end

  def test_the_first_example_prints_what_it_says
    example, = blocks(README, "ruby")
    expected, = blocks(README, "text")
    assert_equal expected, in_another_ruby(example)
  end

  # All others stand by themselves as well.
  blocks = README.scan(/^```ruby\n(.*?)^```$/m).flatten.drop(1)
  blocks.each.with_index(2) do |example, number|
    define_method(:"test_example_#{number}") { in_another_ruby(example) }
  end
end
