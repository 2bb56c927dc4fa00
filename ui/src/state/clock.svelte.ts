// The time, as fine as what is shown needs it: ages and "Yesterday" move on by themselves.

export class Clock {
  now = $state.raw(new Date())
  /** Moves on at midnight only, so that a thousand rows need not look at each second. */
  today = $state.raw(new Date())
  #timer: ReturnType<typeof setInterval>

  constructor(every = 1000) {
    this.#timer = setInterval(() => this.#tick(), every)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    this.now = new Date()
    if (this.now.getDate() !== this.today.getDate()) this.today = this.now
  }
}
