#!/usr/bin/env ruby
# frozen_string_literal: true

# Makes pkg/sealwire-VERSION.gem from this checkout and prints its path.
#
# The gem has the crates that the native part is made of, at the same places relative to each other
# as here: their manifests take versions and lints from the one at the root. Their tests stay here.

require "fileutils"
require "rubygems/package"

HERE = __dir__
ROOT = File.expand_path("../..", HERE)
CRATES = %w[sealwire sealwire-aead sealwire-fork sealwire-nacl sealwire-simd sealwire-zmtp].freeze
PATTERNS = [
  "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT",
  *CRATES.flat_map { |crate| ["crates/#{crate}/Cargo.toml", "crates/#{crate}/src/**/*"] },
  "bindings/ruby/{Cargo.toml,Cargo.lock,extconf.rb,README.md}",
  "bindings/ruby/src/**/*", "bindings/ruby/lib/**/*.rb", "bindings/ruby/sig/**/*"
].freeze

# A manifest without the sections that are about files which the gem does not have.
def without_tests(manifest)
  sections = manifest.split(/^(?=\[)/)
  sections.reject { |section| section.match?(/\A\[(\[(test|bench|example)\]|dev-dependencies)/) }.join
end

stage = File.join(HERE, "pkg", "stage")
FileUtils.rm_rf(stage)
files = Dir.chdir(ROOT) { Dir[*PATTERNS].select { |path| File.file?(path) } }
files.each do |path|
  target = File.join(stage, path)
  FileUtils.mkdir_p(File.dirname(target))
  content = File.binread(File.join(ROOT, path))
  content = without_tests(content) if path.match?(%r{\Acrates/[^/]+/Cargo\.toml\z})
  File.binwrite(target, content)
end
# The specification stands at the top of a gem, and reads the version beside it.
specification = File.read(File.join(HERE, "sealwire.gemspec"))
specification = specification.sub('__dir__, "Cargo.toml"', '__dir__, "bindings/ruby/Cargo.toml"')
File.write(File.join(stage, "sealwire.gemspec"), specification)

built = Dir.chdir(stage) { Gem::Package.build(Gem::Specification.load("sealwire.gemspec")) }
gem = File.join(HERE, "pkg", File.basename(built))
FileUtils.mv(File.join(stage, built), gem)
FileUtils.rm_rf(stage)
puts gem
