//! Which link the mail is about: each question is one line of [`Judge::score`].

use super::collect::Found;
use super::kind::by_address;
use super::token::is_token;
use super::url::Url;
use crate::extract::Kind;
use crate::extract::blocks::Region;
use crate::extract::score::Score;
use crate::extract::signals::link as signal;
use crate::extract::words::{self, Topic};

/// Networks and stores that every mail links to.
const SOCIAL: &[&str] = &[
    "facebook.com",
    "fb.com",
    "twitter.com",
    "x.com",
    "instagram.com",
    "linkedin.com",
    "youtube.com",
    "youtu.be",
    "tiktok.com",
    "pinterest.com",
    "t.me",
    "telegram.me",
    "wa.me",
    "whatsapp.com",
    "threads.net",
    "mastodon.social",
    "bsky.app",
    "vk.com",
    "weibo.com",
    "line.me",
    "discord.gg",
    "discord.com",
    "snapchat.com",
    "reddit.com",
    "xing.com",
    "apps.apple.com",
    "itunes.apple.com",
    "play.google.com",
    "github.com",
];

/// Names of networks as hosts or paths carry them, whoever serves them.
const SOCIAL_NAMES: &[&str] = &[
    "facebook",
    "twitter",
    "instagram",
    "linkedin",
    "youtube",
    "tiktok",
    "pinterest",
    "telegram",
    "whatsapp",
    "mastodon",
    "bluesky",
    "threads",
    "weibo",
];

/// Words in an address that nobody waits for.
const IDLE: &[&str] = &[
    "privacy",
    "terms",
    "legal",
    "imprint",
    "impressum",
    "help",
    "support",
    "faq",
    "contact",
    "about",
    "cookies",
    "policy",
    "browser",
    "webview",
    "view-online",
    "viewinbrowser",
    "tos",
    "conditions",
    "blog",
    "careers",
    "appstore",
    "playstore",
];

/// What is known of all links before each is judged.
pub(super) struct Judge<'a> {
    /// The author's domain.
    domain: &'a str,
    /// There is one link to the web outside of the small print.
    has_only_one: bool,
    /// There is one address on a line of its own.
    has_one_lonely: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(found: &[Found], from: &'a str) -> Self {
        let domain = from.rsplit_once('@').map_or("", |(_, domain)| domain.trim_end_matches('>'));
        let is_main =
            |one: &&Found| one.region == Region::Main && Url::read(&one.href).is_some_and(|url| !url.is_root());
        let main = || found.iter().filter(is_main);
        Self { domain, has_only_one: main().count() == 1, has_one_lonely: main().filter(|one| one.lonely).count() == 1 }
    }

    fn is_lonely(&self, one: &Found) -> bool {
        !one.element && one.lonely && self.has_one_lonely
    }

    pub(super) fn score(&self, one: &Found) -> Score {
        let mut score = Score::default();
        let Some(url) = Url::read(&one.href) else { return score };
        let hits = one.hits();
        let tells = |topic| words::tells(&hits, topic);
        let kind = by_address(&url);
        score.add_if(one.declared, signal::DECLARED);
        score.add_if(one.element && one.spelled, signal::SHOWN);
        score.add_if(self.is_lonely(one), signal::LINE);
        score.add_if(one.button, signal::BUTTON);
        score.add_if(url.values().any(is_token), signal::TOKEN);
        score.add_if(kind.is_some_and(|kind| kind != Kind::Unsubscribe), signal::PATH);
        score.add_if([Topic::Verify, Topic::Reset, Topic::Login].into_iter().any(tells), signal::VERB);
        score.add_if(self.has_only_one && one.region == Region::Main, signal::ONLY);
        score.add_if(url.is_of(self.domain), signal::SENDER);
        score.add_if(kind == Some(Kind::Unsubscribe) || tells(Topic::Unsubscribe), signal::UNSUBSCRIBE);
        score.add_if(is_idle(&url) || tells(Topic::Idle), signal::IDLE);
        score.add_if(tells(Topic::Decline), signal::DECLINE);
        score.add_if(is_social(&url), signal::SOCIAL);
        score.add_if(url.is_root(), signal::ROOT);
        score.add_if(one.region == Region::Footer || one.region == Region::Address, signal::FOOTER);
        score.add_if(one.region == Region::Quoted, signal::QUOTED);
        score.add_if(one.look.hidden, signal::HIDDEN);
        score
    }
}

fn is_idle(url: &Url<'_>) -> bool {
    let mut words = url.path.split(['/', '.', '_']);
    words.any(|word| IDLE.iter().any(|idle| word.eq_ignore_ascii_case(idle)))
}

fn is_social(url: &Url<'_>) -> bool {
    let host = url.host.to_ascii_lowercase();
    let is_host = |name: &&str| host.strip_suffix(*name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let mut labels = host.split('.').chain(url.path.split('/'));
    SOCIAL.iter().any(is_host) || labels.any(|label| SOCIAL_NAMES.contains(&label))
}
