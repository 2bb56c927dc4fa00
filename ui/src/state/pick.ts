// Which code and which link of a message is meant: the kit's rule, so that the page offers what a test would be given. Pure.
import type { Message } from '../api/client'

export type Code = Message['codes'][number]
export type Link = Message['links'][number]

/** From here on a candidate is believed. */
const GOOD = 0.5
/** So far the best must be ahead of the next. */
const AHEAD = 0.15

interface Candidate {
  confidence: number
}

export function pickCode(codes: readonly Code[]): Code | null {
  return best(codes, (code) => code.value)
}

/** The link that the mail is about. */
export function pickLink(links: readonly Link[]): Link | null {
  return best(
    links.filter((link) => link.action),
    (link) => link.href,
  )
}

function best<T extends Candidate>(all: readonly T[], value: (one: T) => string): T | null {
  const good = all.filter((one) => one.confidence >= GOOD).sort((one, other) => other.confidence - one.confidence)
  const [first] = good
  // The same value twice is no contradiction.
  if (!first || good.some((next) => value(next) !== value(first) && first.confidence - next.confidence < AHEAD)) return null
  return first
}
