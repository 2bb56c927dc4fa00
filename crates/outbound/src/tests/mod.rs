//! Hostile URLs, hostile answers.
