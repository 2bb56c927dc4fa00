//! The rules of a `<style>` element that name one class, id or element, by that name. No selectors beyond that: the last
//! simple name of each decides, and rules inside `@media` hold for other screens.

use std::collections::HashMap;

use super::look::Style;

/// Rules that are kept; more are not needed to tell how a code looks.
const RULES_MAX: usize = 500;

/// Style by `.class`, `#id` or `element`.
#[derive(Default)]
pub(super) struct Sheet {
    rules: HashMap<String, Style>,
}

impl Sheet {
    /// Add the rules of one `<style>` element.
    pub(super) fn read(&mut self, css: &str) {
        let (mut rest, mut depth) = (css, 0_usize);
        while let Some((selectors, after)) = rest.split_once('{') {
            depth = depth.saturating_sub(selectors.matches('}').count());
            let end = after.find(['{', '}']).unwrap_or(after.len());
            if after[end..].starts_with('{') {
                // A block of rules, as in `@media`: go on inside of it.
                (rest, depth) = (after, depth + 1);
                continue;
            }
            if depth == 0 {
                self.rule(selectors, &after[..end]);
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, selectors: &str, declarations: &str) {
        let style = Style::read(declarations);
        if style == Style::default() || selectors.contains('@') {
            return;
        }
        let selectors = selectors.rsplit(['}', '*']).next().unwrap_or_default();
        for selector in selectors.split(',') {
            let Some(name) = last_name(selector) else { continue };
            if self.rules.len() < RULES_MAX || self.rules.contains_key(&name) {
                let rule = self.rules.entry(name).or_default();
                *rule = rule.and(style);
            }
        }
    }

    /// What the rules say of `name`, as `.code` or `h1`.
    pub(super) fn style(&self, name: &str) -> Style {
        self.rules.get(name).copied().unwrap_or_default()
    }
}

/// `td.code` is `.code`, `.a .b` is `.b`; with a pseudo-class, none.
fn last_name(selector: &str) -> Option<String> {
    let last = selector.split_ascii_whitespace().next_back()?;
    if last.contains(':') {
        return None;
    }
    let start = last.rfind(['.', '#']).unwrap_or(0);
    Some(last[start..].to_ascii_lowercase())
}
