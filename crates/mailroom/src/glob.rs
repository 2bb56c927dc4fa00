//! Patterns of text: `*` stands for any characters, none among them, and `?` for one.

/// Whether a text is one of these. At most one step for each pair of their characters, and no memory.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut rest) = (pattern.chars(), text.chars());
    // Behind the last star, and where in the text the match behind it was last tried.
    let mut retry = None;
    loop {
        let (mut next_pattern, mut next_rest) = (pattern.clone(), rest.clone());
        match (next_pattern.next(), next_rest.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((next_pattern.clone(), rest.clone()));
                pattern = next_pattern;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                (pattern, rest) = (next_pattern, next_rest);
            }
            _ => {
                let Some((behind_star, tried)) = &mut retry else { return false };
                if tried.next().is_none() {
                    return false;
                }
                (pattern, rest) = (behind_star.clone(), tried.clone());
            }
        }
    }
}
