// Which lines are chosen, and the line that keys act on. Knows lines by their keys only.
import type { Row } from './row'

export class Selection {
  keys = $state.raw<ReadonlySet<string>>(new Set())
  /** The line that takes the focus when the list does. */
  active = $state.raw<string | null>(null)
  /** How often the focus was called to that line: after deleting, wherever it was before. */
  summoned = $state.raw(0)
  /** Where a range began. */
  #anchor: string | null = null

  get size(): number {
    return this.keys.size
  }

  has(key: string): boolean {
    return this.keys.has(key)
  }

  toggle(key: string): void {
    const keys = new Set(this.keys)
    if (!keys.delete(key)) keys.add(key)
    this.keys = keys
    this.#anchor = key
    this.active = key
  }

  /** From where the last choice began to here. */
  extend(rows: readonly Row[], to: string): void {
    const places = [this.#anchor ?? to, to].map((key) => rows.findIndex((row) => row.key === key))
    const [from = -1, end = -1] = places.sort((a, b) => a - b)
    if (from < 0) return this.toggle(to)
    this.keys = new Set([...this.keys, ...rows.slice(from, end + 1).map((row) => row.key)])
    this.active = to
  }

  /** The line and its neighbour: Shift with an arrow. */
  step(rows: readonly Row[], by: 1 | -1): void {
    const at = rows.findIndex((row) => row.key === this.active)
    const [from, to] = [rows[at], rows[at < 0 ? 0 : at + by]]
    if (!to) return
    this.#anchor ??= from?.key ?? to.key
    this.keys = new Set([...this.keys, ...(from ? [from.key] : []), to.key])
    this.active = to.key
  }

  all(rows: readonly Row[]): void {
    this.keys = new Set(rows.map((row) => row.key))
  }

  clear(): void {
    if (this.keys.size) this.keys = new Set()
    this.#anchor = null
  }

  summon(): void {
    this.summoned += 1
  }

  /** Another list. */
  reset(): void {
    this.clear()
    this.active = null
  }

  /** What is there no more is not chosen. */
  keep(rows: readonly Row[]): void {
    if (this.keys.size === 0) return
    const there = rows.filter((row) => this.keys.has(row.key))
    if (there.length !== this.keys.size) this.keys = new Set(there.map((row) => row.key))
  }
}
