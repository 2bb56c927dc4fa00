// The stream behind what is shown: one at a time, for the mailbox on the screen or for all. It tells listeners what came;
// what they make of it is theirs. Knows no list.
import { EventStream, type StreamEvent, type StreamState } from '../api/stream'
import { sameScope, type Scope } from '../router'

export interface Listener {
  /** `deliver`, `delete`, `purge`, `refuse`, `skipped`, `resync`, `hello`. */
  event(event: StreamEvent): void
}

/** A tab nobody looks at lets its connection go after this long: a browser has six for a host. */
const HIDDEN_MAX = 30_000

export class Live {
  state = $state.raw<StreamState>({ kind: 'closed' })
  /** When the last event or greeting came: mail until then is on the screen. */
  heardAt = $state.raw<Date | null>(null)
  /** Events in the last second that the server left out; 0 when all came. */
  thinned = $state(0)
  #root: URL
  #scope: Scope | null = null
  #refusals = false
  #since: string | null = null
  #stream: EventStream | null = null
  #listeners: Listener[] = []
  #hiding: ReturnType<typeof setTimeout> | undefined
  #thick: ReturnType<typeof setTimeout> | undefined
  /** Nobody looks, and the connection was given to tabs that somebody looks at. */
  #away = false
  /** Notifications are on: a hidden tab goes on listening. */
  keepListening = false
  /** Told when a stream is opened, so that other tabs can make room. */
  opened = (): void => {}

  constructor(root: URL) {
    this.#root = root
  }

  get scope(): Scope | null {
    return this.#scope
  }

  listen(listener: Listener): () => void {
    this.#listeners.push(listener)
    return () => (this.#listeners = this.#listeners.filter((one) => one !== listener))
  }

  /** From this cursor on; the same scope again changes nothing. */
  follow(scope: Scope, since: string | null, refusals = false): void {
    if (this.#stream && this.#scope && sameScope(this.#scope, scope) && this.#refusals === refusals) return
    this.#stream?.close()
    this.#scope = scope
    this.#since = since
    this.#refusals = refusals
    this.thinned = 0
    this.#open()
  }

  stop(): void {
    this.#stream?.close()
    this.#stream = null
    this.#scope = null
  }

  wake(): void {
    this.#stream?.wake()
  }

  hidden(): void {
    clearTimeout(this.#hiding)
    if (!this.keepListening) this.#hiding = setTimeout(() => this.letGo(), HIDDEN_MAX)
  }

  /** At once, for a hidden tab: another one opens its stream, and seven do not fit. */
  letGo(): void {
    clearTimeout(this.#hiding)
    if (this.keepListening || this.#away) return
    this.#away = true
    this.#since = this.#stream?.since ?? this.#since
    this.#stream?.close()
    this.#stream = null
  }

  shown(): void {
    clearTimeout(this.#hiding)
    this.#away = false
    if (this.#stream) this.#stream.wake()
    else if (this.#scope) this.#open()
  }

  #open(): void {
    if (this.#away) return
    this.opened()
    const scope = this.#scope
    const url = new URL('api/v2/events', this.#root)
    if (scope?.kind === 'mailbox') url.searchParams.set('mailbox', scope.name)
    else if (this.#refusals) url.searchParams.set('refusals', 'true')
    this.#stream = new EventStream({
      url: () => url.href,
      since: this.#since,
      event: (event) => this.#heard(event),
      state: (state) => (this.state = state),
    })
  }

  #heard(event: StreamEvent): void {
    this.heardAt = new Date()
    if (event.event === 'skipped') {
      this.thinned = (event.data as { count: number }).count
      clearTimeout(this.#thick)
      this.#thick = setTimeout(() => (this.thinned = 0), 3000)
    }
    for (const listener of this.#listeners) listener.event(event)
  }
}
