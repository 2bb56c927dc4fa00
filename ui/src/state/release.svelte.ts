// One message on its way to real people: asked for here, then followed until it is known for each of them how it went.
import { answer, Problem, type Calls, type Release } from '../api/client'
import type { Target } from './reading.svelte'

const ASK_EVERY = 1000
const SHOWN_MAX = 5
/** Of a mailbox, among which those of one message are looked for. */
const ASKED = 100

export class Releasing {
  /** Of this message, the newest first. */
  made = $state.raw<readonly Release[]>([])
  busy = $state(false)
  /** Why it was not taken. */
  problem = $state.raw<Problem | null>(null)
  /** Why it is not known how it goes. */
  lost = $state.raw<Problem | null>(null)
  #calls: Calls
  #of: Target

  constructor(calls: Calls, of: Target) {
    this.#calls = calls
    this.#of = of
  }

  /** For as long as somebody looks: what was released before, then what becomes of it. */
  watch(): () => void {
    void this.#try(() => this.#list())
    const timer = setInterval(() => void this.#try(() => this.#follow()), ASK_EVERY)
    return () => clearInterval(timer)
  }

  /** Whether it was taken. */
  async send(to: string[], from: string | null): Promise<boolean> {
    this.busy = true
    this.problem = null
    try {
      const path = { name: this.#of.mailbox, id: this.#of.id }
      this.#put(await answer(this.#calls.POST('/api/v2/mailboxes/{name}/messages/{id}/release', { params: { path }, body: { to, from } })))
      return true
    } catch (fault) {
      this.problem = fault instanceof Problem ? fault : new Problem(0, { type: 'network' })
      return false
    } finally {
      this.busy = false
    }
  }

  async #list(): Promise<void> {
    const { items } = await answer(this.#calls.GET('/api/v2/releases', { params: { query: { mailbox: this.#of.mailbox, limit: ASKED } } }))
    const own = items.filter((one) => one.messageId === this.#of.id).slice(0, SHOWN_MAX)
    const known = new Set(own.map((one) => one.id))
    this.made = [...this.made.filter((one) => !known.has(one.id)), ...own]
  }

  async #follow(): Promise<void> {
    for (const { id } of this.made.filter(isOpen)) this.#put(await answer(this.#calls.GET('/api/v2/releases/{id}', { params: { path: { id } } })))
  }

  #put(release: Release): void {
    const isKnown = this.made.some((one) => one.id === release.id)
    this.made = isKnown ? this.made.map((one) => (one.id === release.id ? release : one)) : [release, ...this.made]
  }

  async #try(asking: () => Promise<void>): Promise<void> {
    try {
      await asking()
      this.lost = null
    } catch (fault) {
      if (fault instanceof Problem) this.lost = fault
    }
  }
}

const isOpen = ({ state }: Release): boolean => state === 'queued' || state === 'sending'

/** The addresses in what somebody wrote, and the words that are none. */
export function recipientsIn(text: string): { to: string[]; odd: string[] } {
  const words = text.split(/[\s,;]+/).map((word) => word.replace(/^<(.*)>$/, '$1')).filter(Boolean)
  const isAddress = (word: string) => /.@[^@]+$/.test(word)
  return { to: [...new Set(words.filter(isAddress))], odd: words.filter((word) => !isAddress(word)) }
}
