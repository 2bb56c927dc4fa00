// Reads of messages what their lines show beyond the summary, for lines that somebody looks at: in one call, once the eye rests.
import { Problem } from '../api/client'
import type { Listing } from './listing'
import type { Row } from './row'

const REST = 120
const REST_IN_FLOOD = 1000
const MANY = 20

export interface Looked {
  readonly now: Listing | null
  readonly rows: readonly Row[]
  republish(): void
}

export class Glance {
  #list: Looked
  #max: () => number | undefined
  #isFlood: () => boolean
  #timer: ReturnType<typeof setTimeout> | undefined
  #abort: AbortController | null = null
  /** The server knows no `ids` or no `preview`: lines do without. */
  #unable = false

  /** A call takes so many at most; in a flood the eye does not rest. */
  constructor(list: Looked, max: () => number | undefined, isFlood: () => boolean) {
    this.#list = list
    this.#max = max
    this.#isFlood = isFlood
  }

  /** The eye moved. */
  look(): void {
    if (this.#unable || this.#abort) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#read(), this.#isFlood() ? REST_IN_FLOOD : REST)
  }

  /** Another list. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#abort?.abort()
    this.#abort = null
  }

  async #read(): Promise<void> {
    const { now, rows } = this.#list
    if (!now) return
    const seen = rows.slice(now.looked.first, now.looked.last + 1)
    const asked = seen.filter((row) => row.hints === null).slice(0, this.#max() ?? MANY)
    if (asked.length === 0) return
    const abort = (this.#abort = new AbortController())
    try {
      const extracts = await now.pages.extracts(asked, abort.signal)
      if (abort.signal.aborted) return
      this.#abort = null
      now.extracted(asked, extracts)
      this.#list.republish()
      this.look()
    } catch (fault) {
      if (this.#abort === abort) this.#abort = null
      if (fault instanceof Problem && fault.status === 400) this.#unable = true
    }
  }
}
