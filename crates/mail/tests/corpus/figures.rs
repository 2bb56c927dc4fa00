//! What came of a part of the corpus, counted.

use mail::extract::Pick;

use super::Case;

/// The head of the table for users.
pub(super) const HEAD: &str = concat!(
    "| part | mails | codes | wrong | missed | a code where there is none ",
    "| action links | wrong | missed | kind right |\n|---|---|---|---|---|---|---|---|---|---|"
);

/// Counts, and a line for each miss.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) mails: usize,
    pub(super) with_code: usize,
    pub(super) codes_wrong: usize,
    pub(super) codes_missed: usize,
    pub(super) without_code: usize,
    pub(super) codes_false: usize,
    pub(super) with_action: usize,
    pub(super) actions_wrong: usize,
    pub(super) actions_missed: usize,
    pub(super) kinds_right: usize,
    pub(super) kinds_wrong: usize,
    pub(super) misses: Vec<String>,
}

/// One pick against the truth.
enum Outcome {
    Right,
    Wrong(String),
    Missed(String),
}

fn outcome(truth: Option<&str>, picked: Result<&str, String>) -> Outcome {
    match (truth, picked) {
        (None, Err(_)) => Outcome::Right,
        (Some(truth), Ok(picked)) if truth == picked => Outcome::Right,
        (_, Ok(picked)) => Outcome::Wrong(picked.to_owned()),
        (Some(_), Err(why)) => Outcome::Missed(why),
    }
}

fn picked<'a, T>(pick: Pick<'a, T>, tell: impl Fn(&'a T) -> &'a str) -> Result<&'a str, String> {
    match pick {
        Pick::One(one) => Ok(tell(one)),
        Pick::None => Err("none".into()),
        Pick::Ambiguous(all) => Err(format!("ambiguous: {:?}", all.into_iter().map(tell).collect::<Vec<_>>())),
    }
}

impl Figures {
    pub(super) fn of(cases: &[Case]) -> Self {
        let mut figures = Self { mails: cases.len(), ..Self::default() };
        cases.iter().for_each(|case| figures.count(case));
        figures
    }

    fn count(&mut self, case: &Case) {
        self.code(case);
        self.action(case);
    }

    fn code(&mut self, case: &Case) {
        let (has_code, outcome) =
            (case.best.is_some(), outcome(case.best.as_deref(), picked(case.found.code(), |code| &code.value)));
        self.with_code += usize::from(has_code);
        self.without_code += usize::from(!has_code);
        match outcome {
            Outcome::Right => {}
            Outcome::Missed(why) => {
                self.codes_missed += 1;
                self.miss(case, &format!("code {:?} missed: {why}", case.best));
            }
            Outcome::Wrong(picked) => {
                *(if has_code { &mut self.codes_wrong } else { &mut self.codes_false }) += 1;
                self.miss(case, &format!("code {:?} is {picked}", case.best));
            }
        }
    }

    fn action(&mut self, case: &Case) {
        self.with_action += usize::from(case.action.is_some());
        match outcome(case.action.as_deref(), picked(case.found.link(None), |link| &link.href)) {
            Outcome::Right => self.kind(case),
            Outcome::Missed(why) => {
                self.actions_missed += 1;
                self.miss(case, &format!("action {:?} missed: {why}", case.action));
            }
            Outcome::Wrong(picked) => {
                self.actions_wrong += 1;
                self.miss(case, &format!("action {:?} is {picked}", case.action));
            }
        }
    }

    fn kind(&mut self, case: &Case) {
        let Some(kind) = case.found.link(None).one().map(|link| link.kind.as_str()) else { return };
        if case.kind.as_deref() == Some(kind) {
            self.kinds_right += 1;
        } else {
            self.kinds_wrong += 1;
            self.miss(case, &format!("kind {:?} is {kind:?}", case.kind));
        }
    }

    fn miss(&mut self, case: &Case, what: &str) {
        let codes = case
            .found
            .codes
            .iter()
            .map(|code| format!("{} {} {:?} {:?}", code.value, code.confidence, code.signals, code.snippet));
        let links = case
            .found
            .links
            .iter()
            .map(|link| format!("{} {} {:?} {:?}", link.href, link.confidence, link.signals, link.text));
        let is_code = what.starts_with("code");
        let all: Vec<String> = if is_code { codes.collect() } else { links.collect() };
        self.misses.push(format!("{}: {what}\n      {}", case.name, all.join("\n      ")));
    }

    pub(super) fn print_misses(&self) {
        self.misses.iter().for_each(|miss| println!("{miss}"));
    }

    /// What is asked of the held part, by its size.
    pub(super) fn is_good(&self) -> bool {
        self.codes_wrong * 100 <= 2 * self.with_code
            && self.codes_missed * 100 <= 3 * self.with_code
            && self.actions_wrong * 80 <= 2 * self.with_action
            && self.actions_missed * 80 <= 4 * self.with_action
            && self.codes_false * 50 <= self.without_code
            && self.kinds_wrong * 20 <= self.with_action
    }

    /// One row of the table for users.
    pub(super) fn row(&self, part: &str) -> String {
        let (codes, actions) = (self.with_code, self.with_action);
        format!(
            "| {part} | {} | {codes} | {} | {} | {} of {} | {actions} | {} | {} | {} of {} |",
            self.mails,
            self.codes_wrong,
            self.codes_missed,
            self.codes_false,
            self.without_code,
            self.actions_wrong,
            self.actions_missed,
            self.kinds_right,
            self.kinds_right + self.kinds_wrong,
        )
    }
}
