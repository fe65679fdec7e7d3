# frozen_string_literal: true

require_relative "helper"
require_relative "../reference"
require "sealwire/omq"

# The signatures say what there is, and the reference is made of them.
class ReferenceTest < SealwireTest
  REFERENCE = Reference.new(Dir[File.join(__dir__, "../sig/*.rbs")])

  # Not for users: what Ruby's part and the native part tell each other.
  INTERNAL = %w[Authenticator Bell Desk Inbox Methods OriginalGems Pending Reception Reports Unimplemented Workers].freeze
  INTERNAL_METHODS = %w[Sealwire::RPC.close_all Sealwire::RPC.ending? Sealwire::RPC.remember].freeze
  # What every object has, in ways of its own.
  OBJECTS_OWN = %i[inspect to_s == eql? hash initialize_copy].freeze

  # Modules and classes of the gem, by their names.
  def modules
    found = { "Sealwire" => Sealwire }
    [Sealwire, Sealwire::RPC].each do |parent|
      parent.constants.each do |name|
        next if INTERNAL.include?(name.to_s)

        value = parent.const_get(name)
        found[value.name] = value if value.is_a?(Module) && value.name == "#{parent}::#{name}"
      end
    end
    found
  end

  def test_everything_that_there_is_has_a_signature
    declared = REFERENCE.entries.map { |entry| entry.owner + entry.name }
    options = Sealwire::Socket::OPTIONS.flat_map { |name| [name, :"#{name}="] }
    modules.each do |name, value|
      assert_includes REFERENCE.classes.keys, name unless value.is_a?(Class) && value < Sealwire::Socket
      mine = value.public_instance_methods(false) - OBJECTS_OWN - options
      mine.each { |method| assert_includes declared, "#{name}#{method}" }
      own = value.singleton_methods(false) - %i[members keyword_init? [] tell]
      own = own.map { |method| "#{name}.#{method}" } - INTERNAL_METHODS
      own.each { |method| assert_includes declared, method unless value <= Struct }
    end
  end

  def test_everything_with_a_signature_is_there
    REFERENCE.entries.each do |entry|
      owner = Object.const_get(entry.owner.delete_suffix("."))
      there = entry.owner.end_with?(".") ? owner.respond_to?(entry.name) : owner.method_defined?(entry.name) || entry.name == "initialize"
      assert there, "#{entry.owner}##{entry.name}"
    end
  end

  # The README says the same of the AEAD.
  def test_everything_is_explained
    REFERENCE.entries.each do |entry|
      next if entry.owner.start_with?("Sealwire::AEAD") || (entry.owner == "Sealwire::Refusal" && entry.name == "initialize")

      refute_empty entry.comment, "#{entry.owner}##{entry.name}"
    end
    REFERENCE.classes.each { |name, comment| refute_empty comment, name unless name.match?(/AEAD|\A(OMQ|Protocol)\z/) }
  end

  def test_the_stubs_are_ruby
    REFERENCE.stubs.each_value { |text| RubyVM::InstructionSequence.compile(text) }
  end
end
