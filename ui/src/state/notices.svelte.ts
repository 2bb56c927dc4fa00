// What is said at the foot of the page for a while, and what a screen reader is told. Knows no DOM.

export interface Notice {
  id: number
  text: string
  tone: 'plain' | 'fault'
  /** A button beside the text. */
  action?: { label: string; run: () => void }
  /** Milliseconds left; the time stands still while `held`. */
  left: number
  held: boolean
  /** When its time is over or it was closed by hand. */
  ended?: () => void
}

const TICK = 250
const SPOKEN_EVERY = 5000

export class Notices {
  items = $state<Notice[]>([])
  /** What a screen reader is told next. */
  spoken = $state('')
  #next = 1
  #timer: ReturnType<typeof setInterval> | undefined
  #spokenAt = 0
  #waiting: ReturnType<typeof setTimeout> | undefined

  say(text: string, options: Partial<Pick<Notice, 'tone' | 'action' | 'left' | 'ended'>> = {}): number {
    const id = this.#next++
    const over = this.items.slice(0, -2)
    this.items = [...this.items.slice(-2), { id, text, tone: 'plain', left: 4000, held: false, ...options }]
    for (const one of over) one.ended?.()
    this.#timer ??= setInterval(() => this.#tick(), TICK)
    return id
  }

  hold(id: number, held: boolean): void {
    const notice = this.items.find((one) => one.id === id)
    if (notice) notice.held = held
  }

  /** Away with it; `ended` is called unless its button took care. */
  close(id: number, why: 'ended' | 'acted' = 'ended'): void {
    const notice = this.items.find((one) => one.id === id)
    this.items = this.items.filter((one) => one.id !== id)
    if (why === 'ended') notice?.ended?.()
  }

  /** Politely, and at most once in five seconds: the last word wins. */
  speak(text: string): void {
    clearTimeout(this.#waiting)
    const wait = Math.max(0, this.#spokenAt + SPOKEN_EVERY - Date.now())
    this.#waiting = setTimeout(() => {
      this.#spokenAt = Date.now()
      this.spoken = text
    }, wait)
  }

  #tick(): void {
    for (const notice of [...this.items]) {
      if (notice.held) continue
      notice.left -= TICK
      if (notice.left <= 0) this.close(notice.id)
    }
    if (this.items.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }
}
