# frozen_string_literal: true

require_relative "helper"
require "fileutils"
require "rubygems/package"
require "tmpdir"

# Programs as the documents of the gems omq, omq-blake3zmq and chacha20blake3 have them: with the gems'
# own `require`, and with those gems beside this one.
class GemNamesTest < SealwireTest
  def test_a_program_of_omq
    output = in_another_ruby(<<~RUBY)
      require 'omq'

      sink = OMQ::PULL.bind('tcp://127.0.0.1:0')
      source = OMQ::PUSH.connect(sink.bound_endpoints.first)
      source << 'one'
      source.push('two', ['three', 'four'])
      3.times { p sink.receive }
      source.close
      sink.close

      OMQ::PAIR.bind('inproc://pair') do |pair|
        OMQ::PAIR.connect('inproc://pair') { |other| other << 'inside' }
        p pair.wait
      end
    RUBY
    assert_equal %(["one"]\n["two"]\n["three", "four"]\n["inside"]\n), output
  end

  def test_a_program_of_omq_blake3zmq
    output = in_another_ruby(<<~RUBY)
      require "omq"
      require "omq/blake3zmq"

      Crypto = OMQ::Blake3ZMQ::Crypto
      of_server = Crypto::PrivateKey.generate
      of_client = Crypto::PrivateKey.generate
      allowed = of_client.public_key.to_s

      service = OMQ::REP.new
      service.mechanism = Protocol::ZMTP::Mechanism::Blake3.server(
        public_key: of_server.public_key.to_s,
        secret_key: of_server.to_s,
        authenticator: ->(peer) { peer.public_key.to_s == allowed },
      )
      uri = service.bind("tcp://127.0.0.1:0")

      caller = OMQ::REQ.new
      caller.mechanism = Protocol::ZMTP::Mechanism::Blake3.client(
        server_key: of_server.public_key.to_s,
        public_key: allowed,
        secret_key: of_client.to_s,
      )
      caller.connect(uri.to_s)
      caller << "question"
      p service.receive
      service << "answer"
      p caller.receive
    RUBY
    assert_equal %(["question"]\n["answer"]\n), output
  end

  def test_a_program_of_chacha20blake3
    output = in_another_ruby(<<~RUBY)
      require "chacha20blake3"

      key = ChaCha20Blake3.generate_key
      nonce = ChaCha20Blake3.generate_nonce
      cipher = ChaCha20Blake3::Cipher.new(key)
      text, tag = cipher.encrypt_detached(nonce, "text", aad: "version=1")
      p cipher.decrypt_detached(nonce, text, tag, aad: "version=1")
      begin
        cipher.decrypt(nonce, text + tag, aad: "version=2")
      rescue ChaCha20Blake3::DecryptionError
        puts "refused"
      end
    RUBY
    assert_equal %("text"\nrefused\n), output
  end

  def test_every_file_that_the_documents_name
    files = %w[
      omq omq/client_server omq/radio_dish omq/scatter_gather omq/peer omq/channel omq/blake3zmq
      protocol/zmtp protocol/zmtp/mechanism/curve chacha20blake3
    ]
    # Each by itself, and then again with the others.
    files.each { |file| assert_equal "true\n", in_another_ruby("p require #{file.inspect}") }
    in_another_ruby(files.map { |file| "require #{file.inspect}\n" }.join + "OMQ::CHANNEL; ØMQ::SERVER; ChaCha20Blake3::Stream\n")
  end

  # A folder of gems with a gem of this name, whose file says that it was loaded.
  def with_gem(name, file, folder: Dir.mktmpdir)
    FileUtils.mkdir_p(File.join(folder, "gems/#{name}-99.0/lib", File.dirname(file)))
    File.write(File.join(folder, "gems/#{name}-99.0/lib/#{file}.rb"), "puts 'the file of #{name}'\n")
    specification = Gem::Specification.new(name, "99.0") do |gem|
      gem.summary = "a stand-in"
      gem.authors = ["nobody"]
      gem.files = ["lib/#{file}.rb"]
    end
    FileUtils.mkdir_p(File.join(folder, "specifications"))
    File.write(File.join(folder, "specifications/#{specification.full_name}.gemspec"), specification.to_ruby)
    yield({ "GEM_HOME" => folder, "GEM_PATH" => [folder, *Gem.path].join(":") })
  ensure
    FileUtils.rm_rf(folder)
  end

  {
    "omq" => %w[omq omq/channel], "omq-blake3zmq" => %w[omq/blake3zmq], "chacha20blake3" => %w[chacha20blake3],
    "protocol-zmtp" => %w[protocol/zmtp]
  }.each do |name, files|
    files.each do |file|
      define_method(:"test_the_gem_#{name}_has_#{file}_where_it_is_there") do
        with_gem(name, file) do |environment|
          # Installed, and active; the folder of this gem comes first either way.
          ["", "gem #{name.inspect}\n"].each do |first|
            output = in_another_ruby("#{first}require #{file.inspect}\np defined?(Sealwire::Socket)\n", environment: environment)
            assert_equal "the file of #{name}\nnil\n", output
          end
        end
      end
    end
  end

  def test_a_gem_that_the_bundle_does_not_have_is_not_there
    with_gem("omq", "omq") do |environment|
      # Bundler takes the specifications of other gems away like this.
      output = in_another_ruby(<<~RUBY, environment: environment)
        Gem::Specification.all = Gem::Specification.reject { |gem| gem.name == "omq" }
        require "omq"
        p OMQ::PUSH < Sealwire::Socket
      RUBY
      assert_equal "true\n", output
    end
  end

  def test_sockets_of_sealwire_have_the_mechanism_whatever_gems_there_are
    with_gem("omq-blake3zmq", "omq/blake3zmq") do |environment|
      output = in_another_ruby("require 'omq'\nrequire 'omq/blake3zmq'\np OMQ::Blake3ZMQ::Crypto::TAG_SIZE", environment: environment)
      assert_equal "32\n", output
    end
  end

  def test_names_of_sealwire_stay_where_a_gem_is_asked_for_later
    { "omq" => "sealwire/omq", "chacha20blake3" => "sealwire/chacha20blake3" }.each do |name, first|
      with_gem(name, name) do |environment|
        assert_equal "true\n", in_another_ruby("require '#{first}'\np require '#{name}'", environment: environment)
      end
    end
  end

  def test_names_that_a_gem_has_taken_are_not_taken_again
    {
      "module OMQ; Socket = Class.new; end" => "sealwire/omq",
      "module Protocol; module ZMTP; module Mechanism; end; end; end" => "sealwire/omq",
      "ChaCha20Blake3 = Module.new" => "sealwire/chacha20blake3"
    }.each do |theirs, file|
      output = in_another_ruby("#{theirs}\nbegin\n  require #{file.inspect}\nrescue LoadError => error\n  puts error.message\nend")
      assert_match(/has the names? of the gem [a-z0-9-]+, which is loaded already/, output)
    end
    assert_equal "32\n", in_another_ruby("ChaCha20Blake3 = Module.new\nrequire 'sealwire/omq'\np OMQ::Blake3ZMQ::Crypto::TAG_SIZE")
  end
end
