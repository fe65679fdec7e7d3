# frozen_string_literal: true

module Sealwire
  # The gems whose names this one has too. Where such a gem is there, `require` gives its files.
  module OriginalGems # :nodoc:
    module_function

    # Loads a file of a gem if the gem is there (active, in the bundle, or installed), or the file of
    # this gem that has its names. Names that are taken by this gem stay.
    def load(name, path, instead:)
      specification = find(name) unless taken?(name)
      return require(instead) unless specification

      specification.activate
      # Not by its name, under which the file of this gem may come first.
      file = specification.to_fullpath(path)
      raise LoadError, "the gem #{name} #{specification.version} has no #{path}" unless file

      require file
    end

    def find(name)
      return unless defined?(Gem::Specification)

      Gem.loaded_specs[name] || Gem::Specification.find_by_name(name)
    rescue Gem::MissingSpecError
      nil
    end

    # Whether the names of the gem are those of this one already.
    def taken?(name)
      if name == "chacha20blake3"
        defined?(Sealwire::AEAD) && defined?(::ChaCha20Blake3) && ::ChaCha20Blake3.equal?(Sealwire::AEAD)
      else
        defined?(Sealwire::Socket) && defined?(::OMQ::Socket) && ::OMQ::Socket < Sealwire::Socket
      end
    end
  end
end
