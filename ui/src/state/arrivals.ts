// What the stream says about the list on the screen, at the pace the screen can take, and what is done where it says nothing:
// listing anew after a gap, asking now and then where there is no stream. It changes no line itself.
import type { Summary } from '../api/client'
import type { StreamEvent, StreamState } from '../api/stream'
import { sameScope, type Scope } from '../router'
import type { Live } from './live.svelte'
import { Pace } from './pace'
import { milliseconds } from './pages'
import type { Copy } from './row'

/** Of a flood that the server thinned, the end. */
const CALM = 3000
const POLL = 5000
/** A poll sees what is new; each so many it sees what is gone. */
const POLLS_ANEW = 6

export interface Changes {
  /** In order of arrival. */
  delivered: Summary[]
  deleted: Copy[]
  /** Up to these messages. */
  purged: Copy[]
  cursor: string
}

export interface Changing {
  readonly scope: Scope | null
  changed(changes: Changes): void
  anew(): Promise<void>
  newer(): Promise<void>
}

export class Arrivals {
  /** What the server lets go by itself. */
  retention = Infinity
  messagesMax = Infinity
  #list: Changing
  #live: Live
  #pace = new Pace<StreamEvent>((events) => this.#list.changed(sorted(events)))
  #calm: ReturnType<typeof setTimeout> | undefined
  #polling: ReturnType<typeof setInterval> | undefined
  #polls = 0
  /** The list has no cursor, so what came before the stream's first word is not known. */
  #blind = false

  constructor(live: Live, list: Changing) {
    this.#live = live
    this.#list = list
    live.listen({ event: (event) => this.#heard(event) })
  }

  get isFlood(): boolean {
    return this.#pace.isFlood
  }

  /** Another list: nothing of the last one counts. */
  clear(): void {
    clearTimeout(this.#calm)
    this.#pace.clear()
  }

  hold(): void {
    this.#pace.hold()
  }

  release(): void {
    this.#pace.release()
  }

  follow(scope: Scope, cursor: string | null): void {
    this.#blind = cursor === null && !(this.#live.scope && sameScope(this.#live.scope, scope))
    this.#live.follow(scope, cursor)
  }

  /** Where there is no stream, and asking again would not bring one, the list asks instead. */
  streamed(state: StreamState): void {
    clearInterval(this.#polling)
    this.#polling = undefined
    if (state.kind === 'refused') this.#polling = setInterval(() => this.#poll(), POLL)
  }

  #poll(): void {
    this.#polls += 1
    if (this.#polls % POLLS_ANEW === 0) void this.#list.anew()
    else void this.#list.newer()
  }

  #heard({ event, id, data }: StreamEvent): void {
    const [mine, theirs] = [this.#list.scope, this.#live.scope]
    if (!mine || !theirs || !sameScope(mine, theirs)) return
    if (event === 'deliver' || event === 'delete' || event === 'purge') return this.#pace.push({ event, id, data })
    if (event === 'resync') return void this.#list.anew()
    if (event === 'skipped') {
      clearTimeout(this.#calm)
      this.#calm = setTimeout(() => void this.#list.anew(), CALM)
    } else if (event === 'hello') {
      const hello = data as { retention: string | null; messagesMax: number | null }
      this.retention = milliseconds(hello.retention)
      this.messagesMax = hello.messagesMax ?? Infinity
      if (this.#blind) void this.#list.anew()
      this.#blind = false
    }
  }
}

/** Ids are never used again, so what is gone may be taken away behind all that came. */
function sorted(events: readonly StreamEvent[]): Changes {
  const changes: Changes = { delivered: [], deleted: [], purged: [], cursor: '' }
  for (const { event, id, data } of events) {
    const { mailbox, message, id: message_id, upTo } = data as { mailbox: string; message: Summary; id: string; upTo: string }
    if (event === 'deliver') changes.delivered.push(message)
    else if (event === 'delete') changes.deleted.push({ mailbox, id: message_id })
    else changes.purged.push({ mailbox, id: upTo })
    changes.cursor = id
  }
  return changes
}
