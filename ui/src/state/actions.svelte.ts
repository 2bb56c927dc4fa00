// What can be done just now: whoever is on the screen registers it, and keys and palette run it.
import { untrack as untracked } from 'svelte'
import type { Action } from '../keys'

type Deeds = Partial<Record<Action, () => void>>

export class Actions {
  #deeds = $state.raw<Deeds[]>([])

  /** For as long as the owner is shown; the last to register wins. Use inside `$effect`. */
  offer(deeds: Deeds): () => void {
    this.#deeds = [...this.#peek(), deeds]
    return () => (this.#deeds = this.#peek().filter((one) => one !== deeds))
  }

  find(action: Action): (() => void) | undefined {
    for (const deeds of this.#deeds.toReversed()) if (deeds[action]) return deeds[action]
    return undefined
  }

  run(action: Action): boolean {
    const deed = this.find(action)
    deed?.()
    return deed !== undefined
  }

  #peek(): Deeds[] {
    return untracked(() => this.#deeds)
  }
}
