// The rail: the mailboxes with the newest mail and how much came to each; in public only names that were opened in this
// browser. What came to the mailbox on the screen the stream tells; of the others a list is asked for now and then.
import { answer, Problem, type Calls, type MailboxItem, type Summary } from '../api/client'
import { taken, write, type Shelf } from './prefs.svelte'
import type { Seen } from './seen.svelte'

const KEY = 'postkeep.names'
const NAMES_MAX = 20
export const MAILBOXES_MAX = 50
const ASK_EVERY = 15_000

export interface RailItem {
  name: string
  /** Null where nobody counted. */
  messages: number | null
  newestAt: string
}

export class Mailboxes {
  items = $state.raw<readonly RailItem[]>([])
  /** There are others, with older mail. */
  more = $state.raw(false)
  problem = $state.raw<Problem | null>(null)
  recentNames = $state.raw<readonly string[]>([])
  /** Of mailboxes that nobody follows, what must have come. */
  #guessed = $state.raw<ReadonlyMap<string, number>>(new Map())
  #calls: Calls
  #shelf: Shelf
  #seen: Seen
  #timer: ReturnType<typeof setInterval> | undefined
  #ordered = true

  constructor(calls: Calls, shelf: Shelf, seen: Seen) {
    this.#calls = calls
    this.#shelf = shelf
    this.#seen = seen
    const names = taken<unknown>(shelf, KEY)
    if (Array.isArray(names)) this.recentNames = names.filter((name) => typeof name === 'string').slice(0, NAMES_MAX)
  }

  /** From now on; `followed` is the mailbox whose mail the stream tells, null when it tells of all. */
  watch(followed: () => string | null): () => void {
    void this.load(followed())
    this.#timer = setInterval(() => void this.load(followed()), ASK_EVERY)
    return () => clearInterval(this.#timer)
  }

  async load(followed: string | null): Promise<void> {
    try {
      const list = await this.#list()
      this.more = Boolean(list.next)
      this.problem = null
      this.#take(list.items.map(railItem), followed)
    } catch (fault) {
      if (fault instanceof Problem) this.problem = fault
    }
  }

  /** How many came while the page was open and were not opened. */
  fresh(name: string): number {
    return this.#seen.fresh(name) + (this.#guessed.get(name) ?? 0)
  }

  /** Mail came, as the stream tells. */
  arrived(messages: readonly Summary[]): void {
    const came = new Map<string, { count: number; at: string }>()
    for (const { mailbox, receivedAt: at } of messages) {
      const count = (came.get(mailbox)?.count ?? 0) + 1
      came.delete(mailbox)
      came.set(mailbox, { count, at })
    }
    const rest = this.items.filter((item) => !came.has(item.name))
    const moved = [...came].map(([name, { count, at }]): RailItem => {
      const known = this.items.find((item) => item.name === name)
      return { name, messages: known ? known.messages && known.messages + count : count, newestAt: at }
    })
    this.items = [...moved.reverse(), ...rest].slice(0, MAILBOXES_MAX)
  }

  /** Somebody looks at it: what was guessed is on the screen now. */
  shown(name: string): number {
    const guessed = this.#guessed.get(name) ?? 0
    if (guessed) this.#guessed = new Map([...this.#guessed].filter(([other]) => other !== name))
    return guessed
  }

  /** Where mailboxes are not listed, this browser remembers which it opened. */
  remember(name: string): void {
    this.recentNames = [name, ...this.recentNames.filter((other) => other !== name)].slice(0, NAMES_MAX)
    write(this.#shelf, KEY, this.recentNames)
  }

  forget(): void {
    this.recentNames = []
    this.#shelf.removeItem(KEY)
  }

  #take(items: readonly RailItem[], followed: string | null): void {
    const known = new Map(this.items.map((item) => [item.name, item]))
    const guessed = new Map(this.#guessed)
    for (const item of known.size && followed !== null ? items : []) {
      const old = known.get(item.name)
      if (item.name === followed || (old && old.newestAt >= item.newestAt)) continue
      const by = Math.max(1, (item.messages ?? 0) - (old?.messages ?? 0))
      guessed.set(item.name, (guessed.get(item.name) ?? 0) + by)
    }
    this.#guessed = guessed
    this.items = items
  }

  /** By newest mail; an engine that knows no such order lists by name, and the page sorts what it got. */
  async #list(): Promise<{ items: MailboxItem[]; next?: string | null }> {
    const limit = MAILBOXES_MAX
    if (this.#ordered) {
      try {
        return await answer(this.#calls.GET('/api/v2/mailboxes', { params: { query: { order: 'newest', limit } } }))
      } catch (fault) {
        if (!(fault instanceof Problem) || (fault.status !== 501 && fault.status !== 400)) throw fault
        this.#ordered = false
      }
    }
    const list = await answer(this.#calls.GET('/api/v2/mailboxes', { params: { query: { limit } } }))
    return { ...list, items: list.items.toSorted((a, b) => (a.newestAt < b.newestAt ? 1 : -1)) }
  }
}

const railItem = (item: MailboxItem): RailItem => ({ name: item.mailbox, messages: item.messages ?? null, newestAt: item.newestAt })
