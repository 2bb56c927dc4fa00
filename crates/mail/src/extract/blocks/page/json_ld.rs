//! The actions that a sender declares in JSON-LD (schema.org): the address under `potentialAction`. A scan over strings
//! and brackets, not a reader of JSON: what is broken yields nothing.

/// Address and name of each action.
pub(super) fn actions(json: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut depth, mut key, mut name) = (0_usize, String::new(), String::new());
    // How deep the value of `potentialAction` begins; only what is deeper belongs to it.
    let mut action: Option<usize> = None;
    let mut rest = json;
    while let Some(at) = rest.find(['"', '{', '[', '}', ']']) {
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                action = action.filter(|begin| depth > *begin);
            }
            _ => {
                let (text, after) = string(rest);
                rest = after;
                if rest.trim_ascii_start().starts_with(':') {
                    if matches!(&*text, "potentialAction" | "action") && action.is_none() {
                        action = Some(depth);
                    }
                    key = text;
                } else if action.is_some() {
                    match &*key {
                        "url" | "target" | "urlTemplate" if is_web(&text) => found.push((text, name.clone())),
                        "name" => name = text,
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

/// The string whose quote has just been read, and what follows it.
fn string(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (out, &text[at + 1..]),
            '\\' => match letters.next() {
                Some((at, 'u')) => {
                    let code = text.get(at + 1..at + 5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    out.extend(code.and_then(char::from_u32));
                    letters.nth(3);
                }
                Some((_, letter)) => out.push(letter),
                None => break,
            },
            _ => out.push(letter),
        }
    }
    (out, "")
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
