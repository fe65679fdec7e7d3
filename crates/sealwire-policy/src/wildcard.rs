//! Texts with stars.

/// Whether the text fits, where `*` stands for any characters but those of `ends`, and alone for any text.
pub(crate) fn fits(pattern: impl AsRef<[u8]>, text: impl AsRef<[u8]>, ends: &str) -> bool {
    let (pattern, text) = (pattern.as_ref(), text.as_ref());
    if pattern == b"*" {
        return true;
    }
    // Where the pattern went on behind its last star, and how much of the text that star has.
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p + 1, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((behind, taken)) = star
            && !ends.as_bytes().contains(&text[taken])
        {
            star = Some((behind, taken + 1));
            (p, t) = (behind, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|octet| *octet == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_stars_is_matched_in_time() {
        let pattern = "*a".repeat(60);
        assert!(!fits(&pattern, "a".repeat(5_000).replace('a', "ab"), "."));
        assert!(fits(&pattern, "ba".repeat(60), "."));
    }
}
