// Server-sent events over fetch: comes back by itself, from where it was. Knows neither lists nor panes.

export interface StreamEvent {
  event: string
  id: string
  data: unknown
}

export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'waiting'; until: number }
  | { kind: 'refused'; status: number; body: unknown }
  | { kind: 'closed' }

export interface StreamOptions {
  /** Where to listen; `since` is null until there is a cursor. */
  url: (since: string | null) => string
  since?: string | null
  event: (event: StreamEvent) => void
  state: (state: StreamState) => void
  fetch?: typeof fetch
  /** Fractions between 0 and 1, for jitter. */
  random?: () => number
}

const SILENCE_MAX = 35_000
const BACK_OFF_MIN = 500
const BACK_OFF_MAX = 15_000

export class EventStream {
  #options: StreamOptions
  #since: string | null
  #abort: AbortController | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #closed = false

  constructor(options: StreamOptions) {
    this.#options = options
    this.#since = options.since ?? null
    void this.#listen()
  }

  get since(): string | null {
    return this.#since
  }

  /** At once, instead of at the end of the back-off: the network is back, or the tab is looked at again. */
  wake(): void {
    if (this.#closed || this.#abort) return
    clearTimeout(this.#timer)
    void this.#listen()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#abort?.abort()
    this.#options.state({ kind: 'closed' })
  }

  async #listen(): Promise<void> {
    const abort = (this.#abort = new AbortController())
    this.#options.state({ kind: 'connecting' })
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (this.#since) headers['last-event-id'] = this.#since
      const ask = this.#options.fetch ?? fetch
      this.#watch(abort)
      const url = this.#options.url(this.#since)
      const response = await ask(url, { headers, signal: abort.signal, cache: 'no-store', credentials: 'same-origin' })
      if (!response.ok || !response.body) {
        if (await this.#refused(response)) return
      } else {
        await this.#read(response.body, abort)
      }
    } catch {
      // Lost, or let go: both end below.
    }
    clearTimeout(this.#timer)
    this.#abort = null
    if (!this.#closed) this.#later()
  }

  /** What asking again would not change is final; the rest is tried again. */
  async #refused(response: Response): Promise<boolean> {
    const body: unknown = await response.json().catch(() => null)
    if (response.status >= 500 && response.status !== 501) return false
    if (response.status === 429) return false
    clearTimeout(this.#timer)
    this.#abort = null
    this.#options.state({ kind: 'refused', status: response.status, body })
    return true
  }

  async #read(body: ReadableStream<Uint8Array>, abort: AbortController): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
    const frames = new Frames()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || this.#closed) return
      this.#watch(abort)
      for (const event of frames.push(value)) {
        if (event.id) this.#since = event.id
        if (event.event === 'hello') {
          this.#failures = 0
          this.#options.state({ kind: 'live' })
        }
        this.#options.event(event)
      }
    }
  }

  /** A comment comes each 15 s: more than two of them missed is a connection that died without a word. */
  #watch(abort: AbortController): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => abort.abort(), SILENCE_MAX)
  }

  #later(): void {
    const longest = Math.min(BACK_OFF_MAX, BACK_OFF_MIN * 2 ** this.#failures++)
    const delay = longest * (0.5 + 0.5 * (this.#options.random ?? Math.random)())
    this.#options.state({ kind: 'waiting', until: Date.now() + delay })
    this.#timer = setTimeout(() => void this.#listen(), delay)
  }
}

/** Text in pieces to events; one field a line, an empty line ends an event. */
export class Frames {
  #rest = ''

  push(text: string): StreamEvent[] {
    const frames = (this.#rest + text).split('\n\n')
    this.#rest = frames.pop() ?? ''
    return frames.map(frame).filter((event) => event !== null)
  }
}

function frame(text: string): StreamEvent | null {
  let [event, id, data] = ['message', '', '']
  for (const line of text.split('\n')) {
    const [field, value] = [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).replace(/^ /, '')]
    if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'data') data += value
  }
  if (!data) return null
  try {
    return { event, id, data: JSON.parse(data) as unknown }
  } catch {
    return null
  }
}
