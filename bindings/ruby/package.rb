#!/usr/bin/env ruby
# frozen_string_literal: true

# Makes a gem from this checkout in pkg/ and prints its path.
#
#     package.rb                        has the sources, and is built with cargo where it is installed
#     package.rb --precompiled LIBRARY  has the native part LIBRARY, for this platform and this Ruby
#
# The gem with sources has the crates that the native part is made of, at the same places relative to
# each other as here: their manifests take versions and lints from the one at the root. Their tests stay here.

require "fileutils"
require "rubygems/package"

HERE = __dir__
ROOT = File.expand_path("../..", HERE)
STAGE = File.join(HERE, "pkg", "stage")
CRATES = %w[sealwire sealwire-aead sealwire-fork sealwire-nacl sealwire-newplex sealwire-rpc sealwire-simd sealwire-unix sealwire-zmtp].freeze
IN_RUBY = %w[
  LICENSE-APACHE LICENSE-MIT bindings/ruby/Cargo.toml bindings/ruby/README.md
  bindings/ruby/lib/**/*.rb bindings/ruby/sig/**/*
].freeze
SOURCES = [
  "Cargo.toml", *CRATES.flat_map { |crate| ["crates/#{crate}/Cargo.toml", "crates/#{crate}/src/**/*"] },
  "bindings/ruby/{Cargo.lock,extconf.rb}", "bindings/ruby/src/**/*"
].freeze

# A manifest without the sections that are about files which the gem does not have.
def without_tests(manifest)
  sections = manifest.split(/^(?=\[)/)
  sections.reject { |section| section.match?(/\A\[(\[(test|bench|example)\]|dev-dependencies)/) }.join
end

def stage(patterns)
  FileUtils.rm_rf(STAGE)
  files = Dir.chdir(ROOT) { Dir[*patterns].select { |path| File.file?(path) } }
  files.each do |path|
    target = File.join(STAGE, path)
    FileUtils.mkdir_p(File.dirname(target))
    content = File.binread(File.join(ROOT, path))
    content = without_tests(content) if path.match?(%r{\Acrates/[^/]+/Cargo\.toml\z})
    File.binwrite(target, content)
  end
end

# The specification stands at the top of a gem, and reads the version beside it.
def specification
  text = File.read(File.join(HERE, "sealwire.gemspec"))
  text = text.sub('__dir__, "Cargo.toml"', '__dir__, "bindings/ruby/Cargo.toml"')
  File.write(File.join(STAGE, "sealwire.gemspec"), text)
  Gem::Specification.load("sealwire.gemspec")
end

# An extension is loaded by the minor version of Ruby that it was made for, and no other.
def for_this_ruby(specification)
  specification.platform = Gem::Platform.local
  specification.extensions = []
  specification.required_ruby_version = "~> #{RbConfig::CONFIG["ruby_version"]}"
end

# With `library`, for this platform and this Ruby.
def build(patterns, library: nil)
  stage(patterns)
  FileUtils.cp(library, File.join(STAGE, "bindings/ruby/lib/sealwire/sealwire.#{RbConfig::CONFIG["DLEXT"]}")) if library
  built = Dir.chdir(STAGE) do
    made = specification
    for_this_ruby(made) if library
    Gem::Package.build(made)
  end
  gem = File.join(HERE, "pkg", File.basename(built))
  FileUtils.mv(File.join(STAGE, built), gem)
  FileUtils.rm_rf(STAGE)
  puts gem
end

case ARGV
in [] then build(IN_RUBY + SOURCES)
in ["--precompiled", library] then build(IN_RUBY, library: File.expand_path(library))
else abort "usage: package.rb [--precompiled LIBRARY]"
end
