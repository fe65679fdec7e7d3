# frozen_string_literal: true

require_relative "helper"

class ReadmeTest < SealwireTest
  README = File.read(File.join(__dir__, "../README.md"))
  ROOT_README = File.read(File.join(ROOT, "README.md"))

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

  def test_the_example_of_the_main_readme
    examples = blocks(ROOT_README, "ruby")
    refute_empty examples
    examples.each { |example| in_another_ruby(example) }
  end
end
