# frozen_string_literal: true

require_relative "helper"
require "json"
require "stringio"

# Against what the reference in Go gives, and what is refused.
class NewplexTest < SealwireTest
  RECORDED = JSON.parse(File.read(File.join(ROOT, "vectors/newplex.json")))
  Newplex = Sealwire::Newplex

  def unhex(text) = [text].pack("H*")

  def joined(texts) = (texts || []).map { |text| unhex(text) }.join.b

  def label(op, name = "label") = op[name] || unhex(op["#{name}_hex"])

  def of(op, name) = unhex(op.fetch(name))

  # One operation of a transcript. There is none in pieces here: their pieces are joined.
  def apply(live, op)
    protocol = live[op["p"]]
    into = op["into"] || []
    case op["op"]
    when "init" then live[op["p"]] = Newplex::Protocol.new(label(op, "domain"))
    when "unmarshal" then live[op["p"]] = Newplex::Protocol.from_bytes(of(op, "input"))
    when "marshal" then assert_equal of(op, "output"), protocol.to_bytes
    when "clone" then live[into[0]] = protocol.clone
    when "mix" then protocol.mix(label(op), of(op, "input"))
    when "mix_writer", "mix_reader" then protocol.mix(label(op), joined(op["chunks"]))
    when "mix_writer_branch"
      live[into[0]] = protocol.clone.mix(label(op), unhex(op["chunks"][0]))
      protocol.mix(label(op), joined(op["chunks"]))
    when "derive" then assert_equal of(op, "output"), protocol.derive(label(op), op["n"])
    when "mask", "unmask" then assert_equal of(op, "output"), protocol.send(op["op"], label(op), of(op, "input"))
    when "mask_stream", "unmask_stream"
      assert_equal joined(op["outputs"]), protocol.send(op["op"].delete_suffix("_stream"), label(op), joined(op["chunks"]))
    when "seal" then assert_equal of(op, "output"), protocol.seal(label(op), of(op, "input"))
    when "open"
      if op["error"]
        assert_raises(Sealwire::DecryptionError) { protocol.open(label(op), of(op, "input")) }
      else
        assert_equal of(op, "output"), protocol.open(label(op), of(op, "input"))
      end
    when "fork", "fork_n"
      branches = protocol.fork(label(op), *(op["values"] || []).map { |value| unhex(value) })
      assert_equal into.size, branches.size
      live.merge!(into.zip(branches).to_h)
    when "ratchet" then protocol.ratchet(label(op))
    when "equal" then assert_equal op["equal"], protocol.to_bytes == live[op["with"]].to_bytes
    else assert_equal "string", op["op"] # How Go shows a protocol.
    end
    assert_equal of(op, "state"), live[op["p"]].to_bytes if op["state"]
  end

  def test_transcripts_are_those_of_the_reference
    { "protocol" => 217, "transcripts" => 300 }.each do |section, count|
      vectors = RECORDED[section]["vectors"]
      assert_equal count, vectors.size
      vectors.each do |vector|
        live = {}
        vector["ops"].each { |op| apply(live, op) }
        vector["finals"].each do |final|
          assert_equal of(final, "state"), live[final["p"]].to_bytes if final["state"]
          assert_equal of(final, "output"), live[final["p"]].derive("final", 32)
        end
      end
    end
  end

  def test_states_are_those_of_the_reference
    accepted, refused = RECORDED["protocol"]["unmarshal"].partition { |state| state["accept"] }
    refute_empty refused
    accepted.each { |state| assert_equal of(state, "derive"), Newplex::Protocol.from_bytes(of(state, "input")).derive("after", 16) }
    refused.each { |state| assert_raises(ArgumentError) { Newplex::Protocol.from_bytes(of(state, "input")) } }
  end

  def digest(vector)
    return Newplex::Digest.new(vector["domain"]) unless vector["key"]

    Newplex::KeyedDigest.new(vector["domain"], of(vector, "key"))
  end

  def test_digests_are_those_of_the_reference
    RECORDED["digest"]["vectors"].each do |vector|
      digest = digest(vector)
      vector["steps"].each do |step|
        case step["op"]
        when "write" then digest << of(step, "input")
        when "reset" then digest = digest(vector)
        else
          value = step["output"].delete_prefix(step["prefix"] || "")
          assert_equal [unhex(value), value], [digest.digest, digest.hexdigest]
        end
      end
    end
    RECORDED["digest"]["sweep"].each do |sweep|
      assert_equal 301, sweep["outputs"].size
      sweep["outputs"].each do |output|
        assert_equal output["output"], digest(sweep).update(of(sweep, "buffer")[0, output["len"]]).hexdigest
      end
    end
  end

  def test_another_tag_is_refused
    digest = Newplex::KeyedDigest.new("com.example.test", "key").update("message")
    tag = digest.digest
    assert digest.verify(tag)
    wrong = [tag[0..-2], "#{tag}\0".b, ""]
    wrong += Array.new(16) { |at| tag.dup.tap { |other| other.setbyte(at, other.getbyte(at) ^ 1) } }
    wrong.each { |other| assert_raises(Sealwire::VerificationError) { digest.verify(other) } }
  end

  def test_sealed_messages_are_those_of_the_reference
    mine = ->(vector) { of(vector, "nonce").bytesize == Newplex::NONCE_SIZE }
    cipher = ->(vector) { Newplex::Cipher.new(vector["domain"], of(vector, "key")) }
    cases = RECORDED["aead"]["vectors"].select(&mine).map { |vector| [vector, of(vector, "plaintext"), of(vector, "ciphertext")] }
    RECORDED["aead"]["sweep"].each do |sweep|
      cases += sweep["outputs"].map { |output| [sweep, of(sweep, "buffer")[0, output["len"]], of(output, "output")] }
    end
    assert_equal 322, cases.size
    cases.each do |vector, text, sealed|
      nonce, aad = of(vector, "nonce"), of(vector, "ad")
      assert_equal sealed, cipher[vector].encrypt(nonce, text, aad: aad)
      assert_equal text, cipher[vector].decrypt(nonce, sealed, aad: aad)
    end
    rejected = RECORDED["aead"]["reject"].select(&mine)
    assert_equal 68, rejected.size
    rejected.each do |vector|
      assert_raises(Sealwire::DecryptionError) do
        cipher[vector].decrypt(of(vector, "nonce"), of(vector, "ciphertext"), aad: of(vector, "ad"))
      end
    end
  end

  def set_up(vector)
    vector["setup"].each_with_object(Newplex::Protocol.new(vector["domain"])) { |mix, protocol| protocol.mix(mix["label"], of(mix, "input")) }
  end

  def test_streams_are_those_of_the_reference
    assert_equal 36, RECORDED["aestream"]["vectors"].size
    RECORDED["aestream"]["vectors"].each do |vector|
      io = StringIO.new("".b)
      writer = Newplex::Writer.new(set_up(vector), io)
      vector["writes"].each { |piece| assert_equal piece.size / 2, writer.write(unhex(piece)) }
      assert_equal of(vector, "final"), writer.finish.derive("final", 32)
      assert_equal of(vector, "ciphertext"), io.string
      io.rewind
      reader = Newplex::Reader.new(set_up(vector), io)
      assert_equal joined(vector["writes"]), reader.read
      assert_nil reader.read(1)
      assert_equal "", reader.read
      assert_equal of(vector, "final"), reader.finish.derive("final", 32)
    end
  end

  def test_what_is_changed_or_cut_off_is_not_read
    assert_equal 22, RECORDED["aestream"]["reject"].size
    RECORDED["aestream"]["reject"].each do |vector|
      reader = Newplex::Reader.new(set_up(vector), StringIO.new(of(vector, "ciphertext")))
      released = "".b
      # One by one: a read that meets a forgery hands out nothing.
      assert_raises(Sealwire::DecryptionError) { loop { released << reader.read(1) } }
      assert_equal of(vector, "released"), released
      assert_raises(Sealwire::DecryptionError) { reader.read(1) }
      assert_raises(Sealwire::StateError) { reader.finish }
    end
    RECORDED["aestream"]["edge"].each do |vector|
      assert_equal of(vector, "released"), Newplex::Reader.new(set_up(vector), StringIO.new(of(vector, "ciphertext"))).read
    end
  end

  def test_large_writes_become_several_blocks
    RECORDED["aestream"]["large"].each do |vector|
      total = vector["write_sizes"].sum
      text = Array.new(total) { |index| (index * vector["mul"] + vector["add"]) % 251 }.pack("C*")
      io = StringIO.new("".b)
      at = 0
      Newplex::Writer.open(set_up(vector), io) do |writer|
        vector["write_sizes"].each do |size|
          writer << text[at, size]
          at += size
        end
      end
      assert_equal vector["ciphertext_length"], io.string.bytesize
      assert_equal vector["ciphertext_newplex_digest"], Newplex::Digest.new("kat.large").update(io.string).hexdigest
      io.rewind
      reader = Newplex::Reader.new(set_up(vector), io)
      assert_equal text, reader.read(total / 2) + reader.read(total)
      assert_nil reader.read(1)
    end
  end

  def test_an_exception_leaves_a_stream_without_its_end
    io = StringIO.new("".b)
    assert_raises(KeyError) do
      Newplex::Writer.open(Newplex::Protocol.new("test"), io) do |writer|
        writer << "half of it"
        raise KeyError
      end
    end
    io.rewind
    reader = Newplex::Reader.new(Newplex::Protocol.new("test"), io)
    assert_equal "half of it", reader.read(10)
    assert_match(/cut off/, assert_raises(Sealwire::DecryptionError) { reader.read(1) }.message)
  end

  def test_an_io_that_fails_ends_the_stream
    broken = Object.new
    def broken.write(_) = raise(Errno::ENOSPC)
    def broken.read(_) = raise(Errno::EIO)
    writer = Newplex::Writer.new(Newplex::Protocol.new("test"), broken)
    reader = Newplex::Reader.new(Newplex::Protocol.new("test"), broken)
    assert_raises(Errno::ENOSPC) { writer.write("text") }
    assert_raises(Errno::EIO) { reader.read(1) }
    [-> { writer.write("text") }, -> { writer.finish }, -> { reader.read(1) }].each do |use|
      assert_match(/cannot go on/, assert_raises(Sealwire::StateError, &use).message)
    end
  end

  def test_streams_take_the_protocol_over
    protocol = Newplex::Protocol.new("test")
    sealer = Newplex::Sealer.new(protocol)
    [-> { protocol.clone }, -> { protocol.seal("a", "b") }, -> { Newplex::Opener.new(protocol) }].each do |use|
      assert_match(/handed over/, assert_raises(Sealwire::StateError, &use).message)
    end
    block = sealer.seal("hello")
    last, after = sealer.end
    [-> { sealer.seal("more") }, -> { sealer.end }].each { |use| assert_raises(Sealwire::StateError, &use) }
    opener = Newplex::Opener.new(Newplex::Protocol.new("test"))
    assert_equal block.bytesize, opener.block_size(block[0, Newplex::HEADER_SIZE])
    assert_match(/cut off/, assert_raises(Sealwire::StateError) { opener.end }.message)
    assert_equal ["hello", false], [opener.open(block), opener.ended?]
    assert_equal ["", true], [opener.open(last), opener.ended?]
    assert_raises(Sealwire::DecryptionError) { opener.open(last) }
    assert_equal after.to_bytes, opener.end.to_bytes
    [-> { opener.end }, -> { opener.open(block) }].each do |use|
      assert_match(/given back/, assert_raises(Sealwire::StateError, &use).message)
    end
    sealer = Newplex::Sealer.new(Newplex::Protocol.new("test"))
    [0, Newplex::MAX_BLOCK_SIZE + 1].each { |size| assert_raises(ArgumentError) { sealer.seal("x" * size) } }
  end

  def test_signatures_are_those_of_the_reference
    RECORDED["sig"]["vectors"].each do |vector|
      key = Newplex::SigningKey.new(vector["domain"], of(vector, "private_key"))
      assert_equal of(vector, "public_key"), key.public_key
      assert_equal of(vector, "private_key"), key.secret_key
      assert_equal of(vector, "signature"), key.sign(of(vector, "message"), random: of(vector, "rand"))
      verifying = Newplex::VerifyingKey.new(vector["domain"], key.public_key)
      assert verifying.verify(of(vector, "message"), of(vector, "signature"))
      assert_equal key.public_key, verifying.public_key
    end
    assert_equal 18, RECORDED["sig"]["reject"].size
    RECORDED["sig"]["reject"].each do |vector|
      key = Newplex::VerifyingKey.new(vector["domain"], of(vector, "public_key"))
      assert_raises(Sealwire::VerificationError) { key.verify(of(vector, "message"), of(vector, "signature")) }
    end
    # The reference takes the identity.
    RECORDED["sig"]["edge"].each { |vector| assert_raises(ArgumentError) { Newplex::VerifyingKey.new("test", of(vector, "public_key")) } }
  end

  def test_keys_are_random_and_signatures_belong_to_one
    one, other = Array.new(2) { Newplex::SigningKey.generate("test") }
    refute_equal one.public_key, other.public_key
    signature = one.sign("text")
    assert_equal signature, Newplex::SigningKey.new("test", one.secret_key).sign("text")
    refute_equal signature, one.sign("text", random: "hedge")
    assert Newplex::VerifyingKey.new("test", one.public_key).verify("text", signature)
    assert_raises(Sealwire::VerificationError) { Newplex::VerifyingKey.new("test", other.public_key).verify("text", signature) }
    { generate_key: Newplex::KEY_SIZE, generate_nonce: Newplex::NONCE_SIZE }.each do |name, size|
      made = Array.new(10) { Newplex.send(name) }
      assert_equal [10, [size]], [made.uniq.size, made.map(&:bytesize).uniq]
    end
  end

  def test_sizes_and_types_are_checked
    protocol = Newplex::Protocol.new("test")
    before = protocol.to_bytes
    assert_equal Newplex::Protocol::STATE_SIZE, before.bytesize
    assert_match(/256 branches/, assert_raises(ArgumentError) { protocol.fork("many", *[""] * 256) }.message)
    assert_raises(ArgumentError) { protocol.fork }
    assert_raises(TypeError) { protocol.mix("label", 7) }
    assert_raises(TypeError) { protocol.fork("label", 7) }
    assert_raises(Sealwire::DecryptionError) { protocol.open("label", "short") }
    assert_equal before, protocol.to_bytes
    assert_raises(ArgumentError) { Newplex::Cipher.new("test", "key").encrypt("n" * 24, "text") }
    ["x" * 31, "\0" * 32, "\xff" * 32].each { |key| assert_raises(ArgumentError) { Newplex::SigningKey.new("test", key) } }
    assert_raises(ArgumentError) { Newplex::VerifyingKey.new("test", "\xff" * 32) }
    assert_raises(ArgumentError) { Newplex::Reader.new(protocol, StringIO.new).read(-1) }
  end

  def test_secrets_are_not_shown
    [Newplex::Protocol.new("test"), Newplex::KeyedDigest.new("test", "key"), Newplex::Cipher.new("test", "key"),
     Newplex::Sealer.new(Newplex::Protocol.new("test")), Newplex::SigningKey.generate("test")].each do |made|
      assert_match(/\A#<Sealwire::Newplex::\w+(:0x\h+)?>\z/, made.inspect)
      assert_raises(TypeError) { Marshal.dump(made) }
      assert_raises(TypeError) { made.dup }
    end
  end
end
