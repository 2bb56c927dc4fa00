//! How a stretch of text looks, read from declarations of style. Only what tells a code or a button from its
//! surroundings is kept; where sizes are relative, a guess is enough.

use super::Block;

/// Pixels that are larger than running text.
const LARGE: f32 = 19.0;

/// Pixels that nobody reads.
const INVISIBLE: f32 = 2.0;

/// Characters of a page that is long enough to have a usual look.
const USUAL_MIN: usize = 200;

/// What a reader sees at a glance. All of it is inherited by what stands inside.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::extract) struct Look {
    pub(in crate::extract) heading: bool,
    pub(in crate::extract) large: bool,
    pub(in crate::extract) spaced: bool,
    pub(in crate::extract) mono: bool,
    pub(in crate::extract) bold: bool,
    pub(in crate::extract) hidden: bool,
    pub(in crate::extract) footer: bool,
    pub(in crate::extract) quoted: bool,
}

impl Look {
    /// Running text.
    pub(super) const PLAIN: Self = Self {
        heading: false,
        large: false,
        spaced: false,
        mono: false,
        bold: false,
        hidden: false,
        footer: false,
        quoted: false,
    };

    /// Whether it is set off from what is usual in its part.
    pub(in crate::extract) fn is_styled(self, usual: Self) -> bool {
        (self.heading && !usual.heading)
            || (self.large && !usual.large)
            || (self.spaced && !usual.spaced)
            || (self.mono && !usual.mono)
    }
}

/// What an element says of itself: the look it hands on, and the box that it draws.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Style {
    pub(super) look: Look,
    /// The size is set here, so that an inherited one ends.
    pub(super) sized: bool,
    /// Filled with a colour that is not nearly white.
    pub(super) filled: bool,
    pub(super) padded: bool,
    pub(super) bordered: bool,
}

impl Style {
    /// Of a `style` attribute, or of the body of a rule.
    pub(super) fn read(declarations: &str) -> Self {
        let mut style = Self::default();
        for declaration in declarations.split(';') {
            if let Some((property, value)) = declaration.split_once(':') {
                style.declare(&property.trim().to_ascii_lowercase(), &value.trim().to_ascii_lowercase());
            }
        }
        style
    }

    fn declare(&mut self, property: &str, value: &str) {
        match property {
            "font-size" => self.size(value),
            "font" => self.font(value),
            "letter-spacing" => self.look.spaced |= pixels(value).is_some_and(|pixels| pixels >= 1.5),
            "font-family" => self.look.mono |= is_mono(value),
            "font-weight" => {
                self.look.bold |= value.starts_with("bold") || number(value).is_some_and(|weight| weight >= 600.0)
            }
            "display" => self.look.hidden |= value.starts_with("none"),
            "visibility" => self.look.hidden |= value.starts_with("hidden"),
            "opacity" => self.look.hidden |= number(value).is_some_and(|opacity| opacity < 0.05),
            "max-height" | "max-width" => self.look.hidden |= number(value).is_some_and(|size| size < 1.5),
            "mso-hide" => self.look.hidden |= value.starts_with("all"),
            "text-indent" | "left" => self.look.hidden |= number(value).is_some_and(|far| far < -500.0),
            "background" | "background-color" => self.filled |= is_fill(value),
            "padding" | "padding-left" | "padding-top" => {
                self.padded |= value.split_ascii_whitespace().any(|one| number(one).is_some_and(|size| size > 0.0))
            }
            "border" | "border-radius" => self.bordered |= number(value).is_some_and(|size| size > 0.0),
            _ => {}
        }
    }

    /// The short form: a size, perhaps with a height of lines behind it, among words and families.
    fn font(&mut self, value: &str) {
        let words =
            value.split_ascii_whitespace().filter(|word| word.starts_with(|digit: char| digit.is_ascii_digit()));
        let mut sizes = words.filter_map(|word| word.split('/').next()).filter(|word| !is_weight(word));
        if let Some(size) = sizes.next() {
            self.size(size);
        }
        self.look.mono |= is_mono(value);
    }

    /// `bgcolor`.
    pub(super) fn fill(&mut self, colour: &str) {
        self.filled |= is_fill(&colour.trim().to_ascii_lowercase());
    }

    fn size(&mut self, value: &str) {
        let Some(pixels) = pixels(value) else { return };
        self.sized = true;
        self.look.large = pixels >= LARGE;
        self.look.hidden |= pixels < INVISIBLE;
    }

    /// Both, as when a class and the element itself speak.
    pub(super) fn and(self, other: Self) -> Self {
        let (a, b) = (self.look, other.look);
        Self {
            look: Look { large: if other.sized { b.large } else { a.large }, ..either(a, b) },
            sized: self.sized || other.sized,
            filled: self.filled || other.filled,
            padded: self.padded || other.padded,
            bordered: self.bordered || other.bordered,
        }
    }

    /// What stands inside looks so, too.
    pub(super) fn inside(self, outer: Look) -> Look {
        Look {
            large: if self.sized { self.look.large } else { outer.large || self.look.large },
            ..either(outer, self.look)
        }
    }
}

fn either(a: Look, b: Look) -> Look {
    Look {
        heading: a.heading || b.heading,
        large: a.large || b.large,
        spaced: a.spaced || b.spaced,
        mono: a.mono || b.mono,
        bold: a.bold || b.bold,
        hidden: a.hidden || b.hidden,
        footer: a.footer || b.footer,
        quoted: a.quoted || b.quoted,
    }
}

/// What more than half of all characters look like.
pub(super) fn usual(blocks: &[Block]) -> Look {
    let stretches = || blocks.iter().flat_map(Block::stretches);
    let total: usize = stretches().map(|(length, _)| length).sum();
    let most = |has: fn(Look) -> bool| {
        total > USUAL_MIN
            && 2 * stretches().filter(|(_, look)| has(*look)).map(|(length, _)| length).sum::<usize>() > total
    };
    Look {
        heading: most(|look| look.heading),
        large: most(|look| look.large),
        spaced: most(|look| look.spaced),
        mono: most(|look| look.mono),
        bold: most(|look| look.bold),
        ..Look::default()
    }
}

/// A number without a unit.
fn is_weight(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_mono(families: &str) -> bool {
    ["mono", "courier", "consolas", "menlo", "monaco"].iter().any(|family| families.contains(family))
}

/// A colour that stands out: not transparent, not white, not nearly white.
fn is_fill(value: &str) -> bool {
    if let Some(colour) = value.split_ascii_whitespace().find_map(|word| word.strip_prefix('#')) {
        return hex(colour).is_some_and(|channels| channels.iter().any(|channel| *channel < 0xE0));
    }
    if let Some((_, channels)) = value.split_once("rgb") {
        let channels = channels.trim_start_matches(['a', '(']).split([',', ' ', ')']);
        return channels.filter_map(number).take(3).any(|channel| channel < 224.0);
    }
    let word = value.split_ascii_whitespace().next().unwrap_or_default();
    !matches!(
        word,
        "" | "transparent" | "none" | "white" | "inherit" | "initial" | "unset" | "whitesmoke" | "snow" | "ivory"
    ) && !word.starts_with("url(")
}

fn hex(colour: &str) -> Option<[u8; 3]> {
    let digits: Vec<u8> =
        colour.chars().map_while(|digit| digit.to_digit(16)).map(|digit| digit as u8).take(6).collect();
    match digits[..] {
        [a, b, c] => Some([a * 17, b * 17, c * 17]),
        [a, b, c, d, e, f] => Some([a * 16 + b, c * 16 + d, e * 16 + f]),
        _ => None,
    }
}

/// A length in pixels; relative ones of an ordinary text.
fn pixels(value: &str) -> Option<f32> {
    let number = number(value)?;
    let unit = value.trim_start_matches(|digit: char| digit.is_ascii_digit() || matches!(digit, '.' | '-' | '+'));
    let unit = unit.trim_start();
    let scale = match unit {
        _ if unit.starts_with("px") => 1.0,
        _ if unit.starts_with("pt") => 4.0 / 3.0,
        _ if unit.starts_with("rem") || unit.starts_with("em") => 16.0,
        _ if unit.starts_with('%') => 0.16,
        _ => 1.0,
    };
    Some(number * scale)
}

/// The number that a value begins with.
fn number(value: &str) -> Option<f32> {
    let value = value.trim();
    let end =
        value.find(|digit: char| !(digit.is_ascii_digit() || matches!(digit, '.' | '-' | '+'))).unwrap_or(value.len());
    value[..end].parse().ok()
}
