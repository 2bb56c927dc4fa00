// What can be done just now: whoever is on the screen registers it, and keys and palette run it.
import { untrack } from 'svelte'
import type { Action } from '../keys'

type Deeds = Partial<Record<Action, () => void>>

export class Actions {
  // Plain, with a count of its changes beside it: what ends reads state as it was before, and would undo what has just begun.
  #deeds: Deeds[] = []
  #changes = $state(0)

  /** For as long as the owner is shown; the last to register wins. Use inside `$effect`. */
  offer(deeds: Deeds): () => void {
    this.#put([...this.#deeds, deeds])
    return () => this.#put(this.#deeds.filter((one) => one !== deeds))
  }

  find(action: Action): (() => void) | undefined {
    void this.#changes
    for (const deeds of this.#deeds.toReversed()) if (deeds[action]) return deeds[action]
    return undefined
  }

  run(action: Action): boolean {
    const deed = this.find(action)
    deed?.()
    return deed !== undefined
  }

  #put(deeds: Deeds[]): void {
    this.#deeds = deeds
    untrack(() => this.#changes++)
  }
}
