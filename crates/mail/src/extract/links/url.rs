//! The pieces of an address, as far as they are looked at. Nothing is decoded or resolved.

/// An address taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Url<'a> {
    pub(super) scheme: &'a str,
    pub(super) host: &'a str,
    /// From the first `/` on, without parameters.
    pub(super) path: &'a str,
    /// What follows `?`.
    pub(super) query: &'a str,
    /// What follows `#`.
    pub(super) fragment: &'a str,
}

impl<'a> Url<'a> {
    /// Of an address with `//`; none for `mailto:` and the like.
    pub(super) fn read(href: &'a str) -> Option<Self> {
        let (scheme, rest) = href.split_once("://")?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = host.split(':').next().unwrap_or(host);
        Some(Self { scheme, host, path, query, fragment })
    }

    /// Whether it leads to the start page and says nothing else.
    pub(super) fn is_root(&self) -> bool {
        matches!(self.path, "" | "/") && self.query.is_empty() && self.fragment.is_empty()
    }

    /// The segments of the path, then the values of the parameters, then the fragment.
    pub(super) fn values(&self) -> impl Iterator<Item = &'a str> {
        let value = |pair: &'a str| pair.split_once('=').map_or(pair, |(_, value)| value);
        let fragment = self.fragment.split(['&', '/', '?']).map(value);
        self.path.split('/').chain(self.query.split(['&', ';']).map(value)).chain(fragment)
    }

    /// Whether both lead to one registered domain, as far as that shows without a list of them.
    pub(super) fn is_of(&self, domain: &str) -> bool {
        !domain.is_empty() && registered(self.host).eq_ignore_ascii_case(registered(domain))
    }
}

/// The last two labels, or three if the second is as short as that of `co.uk`.
fn registered(host: &str) -> &str {
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let (last, second, third) = (dots.next(), dots.next(), dots.next());
    let is_short = matches!((last, second), (Some(last), Some(second)) if last - second <= 4 && host.len() - last <= 3);
    let cut = if is_short { third } else { second };
    cut.map_or(host, |at| &host[at + 1..])
}
