// Which element shows which line: a line keeps its element while it is shown, and elements of lines that left are used again, so
// that scrolling changes texts instead of building rows. Pure but for what it remembers.

export class Slots {
  /** In the order of the document. */
  #last: { key: string; slot: number }[] = []
  #next = 0

  /** The element of each line; that of `focused` is never given to another, or the focus would go with it. */
  assign(keys: readonly string[], focused: string | null): number[] {
    const wanted = new Set(keys)
    const kept = new Map<string, number>()
    const free: number[] = []
    for (const { key, slot } of this.#last) {
      if (wanted.has(key)) kept.set(key, slot)
      else if (key !== focused) free.push(slot)
    }
    // In the same order again, so that after a jump nothing has to move.
    let at = 0
    this.#last = keys.map((key) => ({ key, slot: kept.get(key) ?? free[at++] ?? this.#next++ }))
    return this.#last.map(({ slot }) => slot)
  }
}
