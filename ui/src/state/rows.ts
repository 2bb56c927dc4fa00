// The lines of one list in the server's order, newest first: what was listed behind, what comes in front. It finds, joins and
// drops; it knows neither server nor screen, and it changes no line that it has shown: it puts another in its place.
import type { Summary } from '../api/client'
import { nameOf, rowOf, type Copy, type Row } from './row'

/** In order of arrival. */
export interface Came {
  rows: Row[]
  /** More than lines, where copies are one line. */
  messages: Summary[]
}

export class Rows {
  #all: Row[] = []
  #byKey = new Map<string, Row>()
  #byName = new Map<string, string>()
  #merging: boolean
  #replaced = false

  /** `merging`: copies of one transaction are one line. */
  constructor(merging: boolean) {
    this.#merging = merging
  }

  get all(): readonly Row[] {
    if (this.#replaced) this.#all = this.#all.map((row) => this.#byKey.get(row.key) ?? row)
    this.#replaced = false
    return this.#all
  }

  get messages(): number {
    return this.#byName.size
  }

  find(copy: Copy): Row | null {
    const key = this.#byName.get(nameOf(copy))
    return (key !== undefined && this.#byKey.get(key)) || null
  }

  /** In the order of arrival: the last ends on top. Says which lines and which messages are new. */
  prepend(summaries: readonly Summary[], at = 0): Came {
    const { rows, messages } = this.#take(summaries, at)
    const whole = rows.map((row) => this.#byKey.get(row.key) ?? row)
    if (rows.length) this.#all = [...whole.toReversed(), ...this.#all]
    return { rows: whole, messages }
  }

  /** A further page, newest first. */
  append(summaries: readonly Summary[]): void {
    const { rows } = this.#take(summaries, 0)
    if (rows.length) this.#all = [...this.#all, ...rows]
  }

  replace(row: Row): void {
    if (!this.#byKey.has(row.key)) return
    this.#byKey.set(row.key, row)
    this.#replaced = true
  }

  /** What was read of lines that are listed again. */
  inherit(from: Rows): void {
    for (const row of this.all) {
      const old = from.#byKey.get(row.key)
      if (old?.hints || old?.arrived) this.replace({ ...row, preview: old.preview, hints: old.hints, arrived: old.arrived })
    }
  }

  /** How many messages are gone by this. */
  remove(copies: readonly Copy[]): number {
    return this.#drop(copies.filter((copy) => this.#byName.has(nameOf(copy))))
  }

  /** All of a mailbox (null: of all) up to a message, or up to a time. */
  purge(mailbox: string | null, upTo: { id: string } | { at: string }): number {
    const past = (copy: Copy, row: Row) => ('id' in upTo ? copy.id <= upTo.id : row.receivedAt <= upTo.at)
    return this.#dropWhere((copy, row) => (mailbox === null || copy.mailbox === mailbox) && past(copy, row))
  }

  /** What age and cap took without a word. */
  expire(before: number, perMailbox: number): number {
    const counts = new Map<string, number>()
    return this.#dropWhere((copy, row) => {
      const count = (counts.get(copy.mailbox) ?? 0) + 1
      counts.set(copy.mailbox, count)
      return count > perMailbox || Date.parse(row.receivedAt) < before
    })
  }

  /** The oldest lines go when there are more than this; true when some did. */
  trim(max: number): boolean {
    if (this.#all.length <= max) return false
    for (const row of this.all.slice(max)) this.#forget(row)
    this.#all = this.#all.slice(0, max)
    return true
  }

  #take(summaries: readonly Summary[], at: number): Came {
    const rows: Row[] = []
    const messages: Summary[] = []
    for (const summary of summaries) {
      const name = nameOf(summary)
      if (this.#byName.has(name)) continue
      messages.push(summary)
      const row = rowOf(summary, this.#merging, at)
      const same = this.#byKey.get(row.key)
      this.#byName.set(name, row.key)
      if (same) {
        this.replace({ ...same, copies: [...same.copies, ...row.copies] })
      } else {
        this.#byKey.set(row.key, row)
        rows.push(row)
      }
    }
    return { rows, messages }
  }

  #dropWhere(goes: (copy: Copy, row: Row) => boolean): number {
    const gone = this.all.flatMap((row) => row.copies.filter((copy) => goes(copy, row)))
    return this.#drop(gone)
  }

  #drop(copies: readonly Copy[]): number {
    if (copies.length === 0) return 0
    for (const copy of copies) {
      const row = this.find(copy)
      this.#byName.delete(nameOf(copy))
      if (!row) continue
      const left = row.copies.filter((one) => one.id !== copy.id || one.mailbox !== copy.mailbox)
      if (left[0]) this.replace({ ...row, ...left[0], copies: left })
      else this.#byKey.delete(row.key)
    }
    this.#all = this.#all.filter((row) => this.#byKey.has(row.key))
    return copies.length
  }

  #forget(row: Row): void {
    this.#byKey.delete(row.key)
    for (const copy of row.copies) this.#byName.delete(nameOf(copy))
  }
}
