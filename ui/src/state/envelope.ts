// What SMTP said against what the header says: who sent it really, who got it blind, who is named and got nothing. Pure.
import type { Message } from '../api/client'

export interface Person {
  name?: string | null
  email: string
}

export interface EnvelopeTruth {
  /** The envelope's sender, when it is not the one of From; empty for the null sender of bounces. */
  sender: string | null
  recipients: string[]
  /** Recipients that no address field names. */
  blind: string[]
  /** Named in an address field, but no recipient of this transaction. */
  undelivered: string[]
  /** Recipients that the caller may not see. */
  others: number
}

type Told = Pick<Message, 'envelope' | 'from' | 'to' | 'cc' | 'bcc' | 'transport' | 'otherRecipients'>

/** Null where nothing is known of the envelope, as in public mode. */
export function envelopeTruth(message: Told, isPublic: boolean): EnvelopeTruth | null {
  const { mailFrom, rcptTo } = message.envelope
  // Where the envelope is kept back there is no recipient at all; a mail that came has one.
  if (isPublic || rcptTo.length === 0) return null
  const named = once([...message.to, ...message.cc, ...message.bcc].map((person) => person.email))
  const inHeader = new Set(named.map(folded))
  const delivered = new Set(rcptTo.map(folded))
  const others = message.otherRecipients ?? message.transport?.otherRecipients ?? 0
  return {
    sender: folded(mailFrom ?? '') === folded(message.from.email) ? null : (mailFrom ?? ''),
    recipients: once(rcptTo),
    blind: once(rcptTo).filter((address) => !inHeader.has(folded(address))),
    // Whoever is not seen here may be among the others.
    undelivered: others > 0 ? [] : named.filter((address) => !delivered.has(folded(address))),
    others,
  }
}

/** To, Cc and Bcc as one, each address once. */
export function recipients(message: Pick<Message, 'to' | 'cc' | 'bcc'>): Person[] {
  const seen = new Set<string>()
  return [...message.to, ...message.cc, ...message.bcc].filter(({ email }) => !seen.has(folded(email)) && seen.add(folded(email)))
}

/** By how many milliseconds the sender's clock is off, when that is worth a word; positive when it is ahead. */
export function clockOff(message: Pick<Message, 'sentAt' | 'receivedAt'>): number | null {
  const off = message.sentAt ? Date.parse(message.sentAt) - Date.parse(message.receivedAt) : 0
  return Math.abs(off) > 5 * 60_000 ? off : null
}

function once(addresses: string[]): string[] {
  const seen = new Set<string>()
  return addresses.filter((address) => !seen.has(folded(address)) && seen.add(folded(address)))
}

/** Addresses that reach the same person by every server's custom: letter case aside, a domain as it is looked up. */
export function folded(address: string): string {
  const small = address.trim().toLowerCase()
  const at = small.lastIndexOf('@')
  return at < 0 ? small : small.slice(0, at + 1) + ascii(small.slice(at + 1))
}

function ascii(domain: string): string {
  if (/^[\x00-\x7f]*$/.test(domain)) return domain
  try {
    return new URL(`http://${domain}`).hostname
  } catch {
    return domain
  }
}
