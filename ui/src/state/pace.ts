// Things that come in any number, handed on together: once a frame, and above fifty in a second four times a second. So a
// thousand arrivals a second are four changes of the screen. Held back while somebody lists anew.

const FRAME = 16
const FLOOD = 250
const FLOOD_RATE = 50
const SECOND = 1000

export class Pace<T> {
  #waiting: T[] = []
  #flush: (items: T[]) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #second = 0
  #count = 0
  #last = 0
  #held = false

  constructor(flush: (items: T[]) => void) {
    this.#flush = flush
  }

  push(item: T): void {
    const second = Math.floor(Date.now() / SECOND)
    if (second !== this.#second) {
      this.#last = second === this.#second + 1 ? this.#count : 0
      this.#second = second
      this.#count = 0
    }
    this.#count += 1
    this.#waiting.push(item)
    this.#later()
  }

  /** More than fifty in this second or the one before. */
  get isFlood(): boolean {
    const age = Math.floor(Date.now() / SECOND) - this.#second
    return (age === 0 && Math.max(this.#count, this.#last) > FLOOD_RATE) || (age === 1 && this.#count > FLOOD_RATE)
  }

  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    if (this.#waiting.length) this.#later()
  }

  /** Of another list. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = []
  }

  #later(): void {
    if (this.#held) return
    this.#timer ??= setTimeout(() => this.#now(), this.isFlood ? FLOOD : FRAME)
  }

  #now(): void {
    this.#timer = undefined
    if (this.#held) return
    const items = this.#waiting
    this.#waiting = []
    this.#flush(items)
  }
}
