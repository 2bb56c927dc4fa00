// A line of the list: a summary, where its copies lie, and what is read of the message once the line is seen. Pure.
import type { Summary } from '../api/client'
import { pickCode, pickLink, type Code, type Link } from './pick'

export interface Copy {
  mailbox: string
  id: string
}

/** What is said at the end of a line. */
export interface Hints {
  code: string | null
  link: boolean
  files: number
  /** Somebody got it whom no header names. */
  blind: boolean
}

export interface Row extends Summary {
  /** Of the line: of the transaction in all mail, where copies are one line; else of the message. */
  key: string
  /** At least one; the first is the one that the line opens. */
  copies: readonly Copy[]
  /** Null until it was read. */
  preview: string | null
  hints: Hints | null
  /** When it came while the page was looking, in milliseconds; 0 when it was listed. */
  arrived: number
}

/** What `fields=` asks for beyond the summary. */
export const SEEN_FIELDS = 'id,mailbox,preview,codes,links,attachments,to,cc'
export interface Extract extends Copy {
  preview?: string | null
  codes?: Code[]
  links?: Link[]
  attachments?: { type: string; cid?: string | null }[]
  to?: { email: string }[]
  cc?: { email: string }[]
}

/** Ids hold no slash, so this is one text for one message. */
export const nameOf = (copy: Copy): string => `${copy.mailbox}/${copy.id}`

export function rowOf(summary: Summary, merging: boolean, arrived = 0): Row {
  const copy = { mailbox: summary.mailbox, id: summary.id }
  const key = (merging && summary.transaction) || nameOf(copy)
  return { ...summary, key, copies: [copy], preview: null, hints: null, arrived }
}

/** The line with what was read of its message. */
export function withExtract(row: Row, extract: Extract): Row {
  const named = new Set([...(extract.to ?? []), ...(extract.cc ?? [])].map((person) => person.email.toLowerCase()))
  const files = (extract.attachments ?? []).filter((part) => !(part.cid && part.type.startsWith('image/')))
  const hints: Hints = {
    code: pickCode(extract.codes ?? [])?.value ?? null,
    link: pickLink(extract.links ?? []) !== null,
    files: files.length,
    blind: (row.envelope?.rcptTo ?? []).some((address) => !named.has(address.toLowerCase())),
  }
  return { ...row, preview: extract.preview ?? '', hints }
}
