// Faults that are in force because somebody asked for them: read while they are looked at, removed by hand, over when their time is.
import { answer, Problem, type Calls, type Plan } from '../api/client'
import type { Clock } from './clock.svelte'

const ASK_EVERY = 5000

export class Faults {
  plans = $state.raw<readonly Plan[]>([])
  status = $state.raw<'reading' | 'ready'>('reading')
  problem = $state.raw<Problem | null>(null)
  #calls: Calls
  #clock: Clock
  #changed: () => void

  /** `changed` is told when one was removed here. */
  constructor(calls: Calls, clock: Clock, changed: () => void = () => {}) {
    this.#calls = calls
    this.#clock = clock
    this.#changed = changed
  }

  /** Nothing derived, which would end with the pane that happened to be the first to look. */
  get inForce(): readonly Plan[] {
    return this.plans.filter((plan) => Date.parse(plan.expiresAt) > this.#clock.now.getTime())
  }

  /** For as long as somebody looks. */
  watch(): () => void {
    void this.read()
    const timer = setInterval(() => void this.read(), ASK_EVERY)
    return () => clearInterval(timer)
  }

  async read(): Promise<void> {
    try {
      this.plans = (await answer(this.#calls.GET('/api/v2/faults'))).items
      this.problem = null
      this.status = 'ready'
    } catch (fault) {
      if (fault instanceof Problem) this.problem = fault
    }
  }

  /** Null when it is gone, else why not. One that is gone already is gone. */
  async remove(id: string): Promise<Problem | null> {
    try {
      await answer(this.#calls.DELETE('/api/v2/faults/{id}', { params: { path: { id } } }))
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault
      if (fault.status !== 404) return fault
    }
    this.plans = this.plans.filter((plan) => plan.id !== id)
    this.#changed()
    return null
  }
}
