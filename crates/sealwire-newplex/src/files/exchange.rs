//! What two parties send to each other, or publish: proofs, requests and answers.

use super::{InvalidFile, Kind, digits};
use crate::schemes::keys::InvalidEncoding;
use crate::schemes::oprf::{self, BlindedElement, EvaluatedElement, PROOF_SIZE};
use crate::schemes::pake::MESSAGE_SIZE;
use crate::schemes::randomness::RANDOMNESS_SIZE;
use crate::schemes::vrf;
use crate::{TAG_SIZE, Tag};
use zeroize::Zeroizing;

/// Bytes that the values of a [`vrf`] on the command line have.
pub const VRF_OUTPUT_SIZE: usize = 32;
/// Bytes that the values of an [`oprf`] on the command line have.
pub const OPRF_OUTPUT_SIZE: usize = 32;

/// What makes a step of an exchange again: a client or an initiator keeps it until its answer
/// comes, a signer until it signs. Its use ends there.
///
/// `kind` is [`Kind::OprfState`], [`Kind::PakeState`] or [`Kind::FrostNonces`].
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_state(
    kind: Kind,
    text: &str,
) -> Result<Zeroizing<[u8; RANDOMNESS_SIZE]>, InvalidFile> {
    digits(kind.value(text)?)
}

/// The proof in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`]. Whether it proves anything is not looked at.
pub fn parse_vrf_proof(text: &str) -> Result<vrf::Proof, InvalidFile> {
    let bytes = digits::<{ vrf::PROOF_SIZE }>(Kind::VrfProof.value(text)?)?;
    vrf::Proof::from_bytes(&*bytes).map_err(|problem| match problem {
        vrf::InvalidProofEncoding::Length(length) => InvalidEncoding::Length(length).into(),
        vrf::InvalidProofEncoding::Part(problem) => problem.into(),
    })
}

/// The blinded input in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_oprf_request(text: &str) -> Result<BlindedElement, InvalidFile> {
    let bytes = digits::<32>(Kind::OprfRequest.value(text)?)?;
    Ok(BlindedElement::from_bytes(&*bytes)?)
}

/// The line of an answer.
#[must_use]
pub fn oprf_answer_line(evaluated: &EvaluatedElement, proof: &oprf::Proof) -> std::string::String {
    let mut bytes = [0; 32 + PROOF_SIZE];
    bytes[..32].copy_from_slice(evaluated.as_bytes());
    bytes[32..].copy_from_slice(&proof.to_bytes());
    Kind::OprfAnswer.line(&bytes).as_str().into()
}

/// The evaluated input in the text of its file, with its proof.
///
/// # Errors
///
/// [`InvalidFile`]. Whether the proof is right is not looked at.
pub fn parse_oprf_answer(text: &str) -> Result<(EvaluatedElement, oprf::Proof), InvalidFile> {
    let bytes = digits::<{ 32 + PROOF_SIZE }>(Kind::OprfAnswer.value(text)?)?;
    let (evaluated, proof) = bytes.split_at(32);
    let proof = oprf::Proof::from_bytes(proof).map_err(|problem| match problem {
        oprf::ProofError::Length(length) => InvalidEncoding::Length(length).into(),
        oprf::ProofError::Part(problem) => InvalidFile::from(problem),
    })?;
    Ok((EvaluatedElement::from_bytes(evaluated)?, proof))
}

/// An initiator's message in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`]. Whether it is an element is found by the responder.
pub fn parse_pake_message(text: &str) -> Result<[u8; MESSAGE_SIZE], InvalidFile> {
    Ok(*digits(Kind::PakeMessage.value(text)?)?)
}

/// The line of a responder's answer: its message, and the tag that confirms the password.
#[must_use]
pub fn pake_answer_line(message: &[u8; MESSAGE_SIZE], confirmation: &Tag) -> std::string::String {
    let mut bytes = [0; MESSAGE_SIZE + TAG_SIZE];
    bytes[..MESSAGE_SIZE].copy_from_slice(message);
    bytes[MESSAGE_SIZE..].copy_from_slice(confirmation);
    Kind::PakeAnswer.line(&bytes).as_str().into()
}

/// A responder's answer in the text of its file: its message, and the tag that confirms the
/// password.
///
/// # Errors
///
/// [`InvalidFile`]. Whether both are right is found by the initiator.
pub fn parse_pake_answer(text: &str) -> Result<([u8; MESSAGE_SIZE], Tag), InvalidFile> {
    let bytes = digits::<{ MESSAGE_SIZE + TAG_SIZE }>(Kind::PakeAnswer.value(text)?)?;
    let (mut message, mut tag) = ([0; MESSAGE_SIZE], [0; TAG_SIZE]);
    message.copy_from_slice(&bytes[..MESSAGE_SIZE]);
    tag.copy_from_slice(&bytes[MESSAGE_SIZE..]);
    Ok((message, tag))
}
