# frozen_string_literal: true

# The gem is built from a folder that `package.rb` fills: this one with the crates beside it, so
# that a gem holds all its sources and is built anywhere.

version = File.read(File.join(__dir__, "Cargo.toml"))[/^version = "(.+)"$/, 1]

Gem::Specification.new do |spec|
  spec.name = "sealwire"
  spec.version = version
  spec.summary = "Encrypted ZeroMQ sockets, and the AEAD ChaCha20-BLAKE3"
  spec.description = "ZeroMQ sockets wire-compatible with libzmq (ZMTP 3.1) with the mechanisms " \
                     "BLAKE3ZMQ, CURVE and PLAIN, and the AEAD ChaCha20-BLAKE3. Written in Rust."
  spec.authors = ["The Sealwire authors"]
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.homepage = "https://github.com/sealwire/sealwire"
  spec.metadata = { "rubygems_mfa_required" => "true" }
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir.chdir(__dir__) { Dir["**/*"].select { |path| File.file?(path) } } - ["sealwire.gemspec"]
  spec.require_paths = ["bindings/ruby/lib"]
  spec.extensions = ["bindings/ruby/extconf.rb"]
end
