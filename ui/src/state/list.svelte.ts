// The list on the screen: what was listed, has come since, is chosen. Lists that were left are kept for Back. Knows no pane.
import { Problem, type Calls } from '../api/client'
import type { StreamState } from '../api/stream'
import { sameScope, type Scope } from '../router'
import { Arrivals, type Changes, type Changing } from './arrivals'
import { Glance } from './glance'
import { LeftLists, Listing, type Place } from './listing'
import type { Live } from './live.svelte'
import type { Search } from './pages'
import type { Pending } from './pending.svelte'
import type { Copy, Row } from './row'
import type { Came } from './rows'
import { Selection } from './selection.svelte'

export type { Copy, Row } from './row'

const RETRY = 5000
/** A search asks again so long after mail came; a list so long after a mailbox was emptied. */
const SOON = 400

export interface ListEvents {
  /** Came just now; `first`: before it there was nothing. */
  arrived(came: Came, first: boolean): void
  gone(copies: readonly Copy[]): void
  purged(mailbox: string | null): void
}

export class MessageList implements Changing {
  rows = $state.raw<readonly Row[]>([])
  /** Messages on the server, in this list; null when nobody counted. */
  total = $state.raw<number | null>(null)
  /** The place behind all that is shown. */
  cursor = $state.raw<string | null>(null)
  status = $state.raw<'idle' | 'loading' | 'ready'>('idle')
  problem = $state.raw<Problem | null>(null)
  search = $state.raw<Search | null>(null)
  /** There are older ones on the server. */
  more = $state.raw(false)
  loadingMore = $state.raw(false)
  /** There are so many that the oldest were let go. */
  capped = $state.raw(false)
  /** Lines that came above what is looked at. */
  above = $state.raw(0)
  /** Times that somebody came back to a place in it. */
  returned = $state.raw(0)
  /** The list itself, with the place that it is scrolled to. */
  now = $state.raw<Listing | null>(null)
  readonly selection = new Selection()
  events: ListEvents = { arrived() {}, gone() {}, purged() {} }

  #calls: Calls
  #pending: Pending
  #left = new LeftLists()
  #abort: AbortController | null = null
  #arrivals: Arrivals
  #glance: Glance
  #later: ReturnType<typeof setTimeout> | undefined

  constructor(calls: Calls, live: Live, pending: Pending, fullMax: () => number | undefined = () => undefined) {
    this.#calls = calls
    this.#pending = pending
    this.#arrivals = new Arrivals(live, this)
    this.#glance = new Glance(this, fullMax, () => this.#arrivals.isFlood)
  }

  get scope(): Scope | null {
    return this.now?.pages.scope ?? null
  }

  get q(): string {
    return this.now?.pages.q ?? ''
  }

  get selected(): readonly Row[] {
    return this.rows.filter((row) => this.selection.has(row.key))
  }

  find(mailbox: string, id: string): Row | null {
    if (this.rows.length === 0) return null
    const row = this.now?.rows.find({ mailbox, id }) ?? null
    return row && !this.#pending.hides({ mailbox, id }, row.receivedAt) ? row : null
  }

  /** 1 is the next, older one. */
  neighbour(mailbox: string, id: string, step: 1 | -1): Row | null {
    const rows = this.rows
    const key = this.now?.rows.find({ mailbox, id })?.key
    const at = rows.findIndex((row) => row.key === key)
    return at < 0 ? null : (rows[at + step] ?? null)
  }

  newest(): Row | null {
    return this.rows[0] ?? null
  }

  /** Shows this list, at a place that was left; the one that is shown already stays as it is. */
  show(scope: Scope, q: string, place: Place = null): void {
    const old = this.now
    if (old && sameScope(old.pages.scope, scope) && old.pages.q === q) {
      if (place) this.returned += 1
      return void (place && old.return(place))
    }
    const next = new Listing(this.#calls, scope, q)
    const kept = this.#left.change(old, next.key)
    this.now = kept ?? next
    if (place) this.now.return(place)
    this.#arrivals.clear()
    this.#glance.stop()
    this.selection.reset()
    this.problem = null
    this.above = 0
    this.status = kept ? 'ready' : 'loading'
    this.republish()
    void this.anew()
  }

  /** Lists anew, as far as somebody has looked, and goes on from there. */
  async anew(): Promise<void> {
    const now = this.now
    if (!now) return
    clearTimeout(this.#later)
    this.#abort?.abort()
    const abort = (this.#abort = new AbortController())
    this.#arrivals.hold()
    try {
      await now.anew(abort.signal)
      this.problem = null
      this.status = 'ready'
      this.republish()
      this.#arrivals.follow(now.pages.scope, now.cursor)
    } catch (fault) {
      if (abort.signal.aborted) return
      this.#failed(fault)
    }
    this.#arrivals.release()
  }

  /** Older ones, when somebody comes near the end. */
  async loadMore(): Promise<void> {
    const now = this.now
    if (!now?.next || this.loadingMore || this.status !== 'ready') return
    this.loadingMore = true
    try {
      await now.older()
      if (now === this.now) this.republish()
    } catch (fault) {
      if (now === this.now) this.#failed(fault)
    } finally {
      this.loadingMore = false
    }
  }

  /** Every one that the server has, as far as they are kept; then they can all be chosen. */
  async loadAll(): Promise<void> {
    const now = this.now
    while (now === this.now && this.more && !this.problem) await this.loadMore()
  }

  /** These lines are in sight. */
  look(first: number, last: number): void {
    if (this.now) this.now.looked = { first, last }
    this.#glance.look()
  }

  /** The stream was elsewhere: it goes on where this list is. */
  resume(): void {
    if (this.now && this.status === 'ready') this.#arrivals.follow(this.now.pages.scope, this.cursor)
  }

  streamed(state: StreamState): void {
    this.#arrivals.streamed(state)
  }

  /** On the minute: what is too old or too many is gone on the server without a word. */
  expire(now = Date.now()): void {
    this.now?.expire(now - this.#arrivals.retention, this.#arrivals.messagesMax)
    this.republish()
  }

  /** What there is, or what of it is hidden, has changed. */
  republish(): void {
    const { now } = this
    if (!now) return
    const { rows, total } = now.without(this.#pending)
    this.rows = rows
    this.total = total
    this.cursor = now.cursor
    this.search = now.search
    this.more = now.next !== null
    this.capped = now.capped
    this.selection.keep(rows)
  }

  /** The server has deleted these. */
  deleted(copies: readonly Copy[]): void {
    this.now?.deleted(copies)
    this.events.gone(copies)
    this.republish()
  }

  /** The server has emptied a mailbox, or all. */
  purged(mailbox: string | null, upTo: { id: string } | { at: string }): void {
    this.now?.purged(mailbox, upTo)
    this.events.purged(mailbox)
    this.republish()
    if (this.more) this.#soon(SOON)
  }

  /** The stream told of these. */
  changed(changes: Changes): void {
    const now = this.now
    if (!now) return
    const first = this.rows.length === 0 && this.status === 'ready' && !this.q
    // What a search finds only the server knows.
    if (this.q && changes.delivered.length) this.#soon(SOON, () => void this.newer())
    const came = now.take(this.q ? { ...changes, delivered: [], cursor: '' } : changes, this.#arrivals.isFlood)
    this.republish()
    this.events.gone(changes.deleted)
    for (const { mailbox } of changes.purged) this.events.purged(mailbox)
    if (changes.purged.length && this.more) this.#soon(SOON)
    if (came.messages.length) this.events.arrived(came, first)
  }

  /** What is new, without the stream. */
  async newer(): Promise<void> {
    const now = this.now
    try {
      const came = await now?.newer()
      if (now !== this.now) return
      if (!came) return await this.anew()
      this.republish()
      if (came.messages.length) this.events.arrived(came, false)
    } catch (fault) {
      // A place that is no good any more: from the start.
      if (fault instanceof Problem && (fault.status === 400 || fault.status === 501)) await this.anew()
    }
  }

  #failed(fault: unknown): void {
    if (!(fault instanceof Problem)) throw fault
    this.problem = fault
    this.status = 'ready'
    if (fault.status === 0 || fault.status === 429 || fault.status > 501) this.#soon((fault.retryAfter ?? 0) * 1000 || RETRY)
  }

  #soon(after: number, run = () => void this.anew()): void {
    clearTimeout(this.#later)
    this.#later = setTimeout(run, after)
  }
}
