// One list: its lines, how many there are on the server, and from where it goes on at both ends. It asks for pages and takes in
// what others tell it; it has no timer, and nothing that is shown follows it by itself.
import type { Calls, Summary } from '../api/client'
import type { Scope } from '../router'
import type { Changes } from './arrivals'
import { Pages, type Search } from './pages'
import type { Pending } from './pending.svelte'
import { nameOf, withExtract, type Copy, type Extract, type Row } from './row'
import { Rows, type Came } from './rows'

const FIRST = 50
const PAGE = 500
export const ROWS_MAX = 10_000
const LEFT_MAX = 3

/** The line on top of the screen, which one it is, and how far it is scrolled out; null at the top. */
export type Place = { key: string; index: number; offset: number } | null

/** A place that was kept with an address, by whatever version of the page. */
export function placeOf(kept: unknown): Place {
  const { key, index, offset } = (kept ?? {}) as Record<string, unknown>
  return typeof key === 'string' && typeof index === 'number' && typeof offset === 'number' ? { key, index, offset } : null
}

export class Listing {
  readonly pages: Pages
  rows: Rows
  total: number | null = null
  cursor: string | null = null
  next: string | null = null
  search: Search | null = null
  /** The oldest were let go: there would be too many. */
  capped = false
  place: Place = null
  /** Lines in sight. */
  looked = { first: 0, last: 0 }

  constructor(calls: Calls, scope: Scope, q: string) {
    this.pages = new Pages(calls, scope, q)
    this.rows = new Rows(scope.kind === 'all')
  }

  get key(): string {
    const { scope, q } = this.pages
    return `${scope.kind === 'mailbox' ? scope.name : ''}?${q}`
  }

  /** Somebody comes back to where they were. */
  return(place: Place): void {
    this.place = place
    if (place) this.looked = { first: place.index, last: Math.min(place.index, ROWS_MAX) }
  }

  /** As far as somebody has looked; what was read of lines stays. */
  async anew(signal: AbortSignal): Promise<void> {
    const wanted = this.looked.last + FIRST
    const rows = new Rows(this.pages.scope.kind === 'all')
    const first = await this.pages.read({ limit: wanted > 2 * FIRST ? PAGE : FIRST, signal })
    let page = first
    rows.append(page.items)
    while (page.next && rows.all.length < wanted) {
      page = await this.pages.read({ limit: PAGE, page: page.next, signal })
      rows.append(page.items)
    }
    signal.throwIfAborted()
    rows.inherit(this.rows)
    this.rows = rows
    this.capped = false
    this.next = page.next
    this.total = first.total
    this.cursor = first.cursor
    this.search = first.search
  }

  /** The next older ones. */
  async older(): Promise<void> {
    const next = this.next
    if (!next) return
    const page = await this.pages.read({ limit: PAGE, page: next })
    if (next !== this.next) return
    this.rows.append(page.items)
    this.next = page.next
    this.#trim()
  }

  /** What came behind the cursor, where no stream tells or only the server knows what a search finds. */
  async newer(): Promise<Came | null> {
    const since = this.cursor
    if (since === null) return null
    const page = await this.pages.read({ limit: PAGE, since })
    if (since !== this.cursor) return { rows: [], messages: [] }
    this.cursor = page.cursor
    return this.#came(page.items.toReversed())
  }

  /** What the stream told. */
  take({ delivered, deleted, purged, cursor }: Changes, flood = false): Came {
    if (cursor) this.cursor = cursor
    const came = this.#came(delivered, flood)
    this.deleted(deleted)
    for (const { mailbox, id } of purged) this.purged(mailbox, { id })
    return came
  }

  deleted(copies: readonly Copy[]): void {
    this.#count(-this.rows.remove(copies))
  }

  purged(mailbox: string | null, upTo: { id: string } | { at: string }): void {
    const gone = this.rows.purge(mailbox, upTo)
    const { scope } = this.pages
    // In a mailbox nothing is left but what came later; elsewhere what nobody had listed is not counted.
    if (scope.kind === 'all' && mailbox !== null) return this.#count(-gone)
    this.next = null
    if (this.total !== null) this.total = this.rows.messages
  }

  /** What age and cap took. */
  expire(before: number, perMailbox: number): void {
    this.#count(-this.rows.expire(before, perMailbox))
    if (this.total !== null && this.pages.scope.kind === 'mailbox') this.total = Math.min(this.total, perMailbox)
  }

  extracted(asked: readonly Row[], extracts: readonly Extract[]): void {
    const found = new Map(extracts.map((one) => [nameOf(one), one]))
    for (const row of asked) {
      const now = this.rows.find(row)
      // One that is not found is gone, or soon told to be; it is not asked for again.
      if (now) this.rows.replace(withExtract(now, found.get(nameOf(row)) ?? { mailbox: row.mailbox, id: row.id }))
    }
  }

  /** The lines and the count without what waits to be deleted. */
  without(pending: Pending): { rows: readonly Row[]; total: number | null } {
    const all = this.rows.all
    if (!pending.any) return { rows: all, total: this.total }
    const rows = all.flatMap((row) => unhidden(row, pending))
    const here = rows.reduce((sum, row) => sum + row.copies.length, 0)
    const { scope } = this.pages
    if (pending.purges(scope.kind === 'mailbox' ? scope.name : null)) return { rows, total: here }
    return { rows, total: this.total === null ? null : Math.max(0, this.total - (this.rows.messages - here)) }
  }

  #came(summaries: readonly Summary[], flood = false): Came {
    // In a flood no line is pointed out.
    const came = this.rows.prepend(summaries, flood ? 0 : Date.now())
    this.#count(came.messages.length)
    this.#trim()
    return came
  }

  #count(by: number): void {
    if (this.total !== null) this.total = Math.max(0, this.total + by)
  }

  #trim(): void {
    if (!this.rows.trim(ROWS_MAX) && !(this.next && this.rows.all.length >= ROWS_MAX)) return
    this.capped = true
    this.next = null
  }
}

/** The lists that were left last, for who comes back. */
export class LeftLists {
  #lists = new Map<string, Listing>()

  /** One is left, another is wanted. */
  change(left: Listing | null, wanted: string): Listing | null {
    if (left) {
      this.#lists.delete(left.key)
      this.#lists.set(left.key, left)
    }
    const [oldest] = this.#lists.keys()
    if (this.#lists.size > LEFT_MAX && oldest !== undefined) this.#lists.delete(oldest)
    return this.#lists.get(wanted) ?? null
  }
}

function unhidden(row: Row, pending: Pending): Row[] {
  const copies = row.copies.filter((copy) => !pending.hides(copy, row.receivedAt))
  const [first] = copies
  if (!first) return []
  return copies.length === row.copies.length ? [row] : [{ ...row, ...first, copies }]
}
