//! Hostile URLs, hostile names and hostile answers, against servers of this machine that count who came.

mod answers;
mod kit;
mod places;
mod rebinding;
mod redirects;
mod urls;
