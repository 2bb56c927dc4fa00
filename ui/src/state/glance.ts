// Reads of messages what their lines show beyond the summary, for lines that somebody looks at: in one call, once the eye rests.
import { Problem } from '../api/client'
import type { Copy, Extract, Row } from './row'

const REST = 120
const REST_IN_FLOOD = 1000
const MANY = 20

export interface Glancing {
  read(copies: readonly Copy[], signal: AbortSignal): Promise<Extract[]>
  /** A call takes so many. */
  max(): number | undefined
  /** What came; lines of `asked` that are not in it are gone. */
  found(asked: readonly Row[], extracts: readonly Extract[]): void
  /** The lines that are looked at now. */
  seen(): readonly Row[]
  isFlood(): boolean
}

export class Glance {
  #to: Glancing
  #timer: ReturnType<typeof setTimeout> | undefined
  #abort: AbortController | null = null
  /** The server knows no `ids` or no `preview`: lines do without. */
  #unable = false

  constructor(to: Glancing) {
    this.#to = to
  }

  /** The eye moved. */
  look(): void {
    if (this.#unable || this.#abort) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#read(), this.#to.isFlood() ? REST_IN_FLOOD : REST)
  }

  /** Another list. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#abort?.abort()
    this.#abort = null
  }

  async #read(): Promise<void> {
    const asked = this.#to.seen().filter((row) => row.hints === null).slice(0, this.#to.max() ?? MANY)
    if (asked.length === 0) return
    const abort = (this.#abort = new AbortController())
    try {
      const extracts = await this.#to.read(asked.flatMap((row) => row.copies.slice(0, 1)), abort.signal)
      if (abort.signal.aborted) return
      this.#abort = null
      this.#to.found(asked, extracts)
      this.look()
    } catch (fault) {
      if (this.#abort === abort) this.#abort = null
      if (fault instanceof Problem && fault.status === 400) this.#unable = true
    }
  }
}
