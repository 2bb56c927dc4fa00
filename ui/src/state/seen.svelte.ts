// What was opened in this browser. Kept there and nowhere else: looking changes nothing for anybody. Per mailbox the id up to
// which all is read, and the last few thousand messages that were opened one by one. Also: what came while the page was open.
import { taken, write, type Shelf } from './prefs.svelte'
import { nameOf, type Copy, type Row } from './row'

const KEY = 'postkeep.seen'
const IDS_MAX = 5000
const MAILBOXES_MAX = 1000
const FRESH_MAX = 10_000
const WRITE_AFTER = 400

interface Kept {
  cursors: Record<string, string>
  ids: string[]
}

export class Seen {
  #shelf: Shelf
  #cursors = new Map<string, string>()
  /** Oldest first. */
  #ids = new Set<string>()
  /** Of each mailbox, what came while the page was open and was not opened since. */
  #fresh = new Map<string, Set<string>>()
  #freshCount = 0
  #version = $state(0)
  #writing: ReturnType<typeof setTimeout> | undefined
  /** The other copies of the same mail: who has read one has read it. */
  copiesOf = (copy: Copy): readonly Copy[] => [copy]

  constructor(shelf: Shelf) {
    this.#shelf = shelf
    this.reload()
  }

  /** Another tab wrote, or this one begins. */
  reload(): void {
    const kept = taken<Partial<Kept>>(this.#shelf, KEY)
    const ids = Array.isArray(kept?.ids) ? kept.ids.filter((id) => typeof id === 'string') : []
    const cursors = Object.entries(kept?.cursors ?? {}).filter((entry) => typeof entry[1] === 'string')
    this.#ids = new Set([...ids, ...(this.#writing === undefined ? [] : this.#ids)].slice(-IDS_MAX))
    this.#cursors = new Map(cursors)
    this.#version += 1
  }

  opened(mailbox: string, id: string): void {
    for (const copy of this.copiesOf({ mailbox, id })) this.#take(copy)
    this.#changed()
  }

  isSeen(row: Pick<Row, 'copies'>): boolean {
    void this.#version
    return row.copies.some((copy) => copy.id <= (this.#cursors.get(copy.mailbox) ?? '') || this.#ids.has(nameOf(copy)))
  }

  unread(rows: readonly Row[]): number {
    return rows.reduce((count, row) => count + (this.isSeen(row) ? 0 : 1), 0)
  }

  /** As if these had never been opened. What is older and was read at once is remembered one by one. */
  unopen(rows: readonly Row[], all: readonly Row[]): void {
    const copies = rows.flatMap((row) => row.copies)
    for (const copy of copies) {
      const cursor = this.#cursors.get(copy.mailbox) ?? ''
      if (copy.id <= cursor) this.#split(copy.mailbox, cursor, all)
    }
    for (const copy of copies) this.#ids.delete(nameOf(copy))
    this.#changed()
  }

  /** All of these, and in a mailbox all that is older. */
  readAll(rows: readonly Row[]): void {
    for (const { mailbox, id } of rows.flatMap((row) => row.copies)) {
      if (id > (this.#cursors.get(mailbox) ?? '')) this.#cursors.set(mailbox, id)
      this.#lift(mailbox, id)
    }
    for (const name of [...this.#ids]) {
      const at = name.lastIndexOf('/')
      if (name.slice(at + 1) <= (this.#cursors.get(name.slice(0, at)) ?? '')) this.#ids.delete(name)
    }
    this.#changed()
  }

  /** Came while the page was open. */
  arrived(copies: readonly Copy[]): void {
    for (const { mailbox, id } of copies.filter((copy) => !this.isSeen({ copies: [copy] }))) {
      const ids = this.#fresh.get(mailbox) ?? new Set()
      if (this.#freshCount >= FRESH_MAX || ids.has(id)) continue
      this.#fresh.set(mailbox, ids.add(id))
      this.#freshCount += 1
    }
    this.#version += 1
  }

  /** Is there no more. */
  gone(copies: readonly Copy[]): void {
    if (copies.length === 0) return
    for (const copy of copies) this.#lift(copy.mailbox, copy.id)
    this.#version += 1
  }

  /** How many came to a mailbox, or to all, and were not opened. */
  fresh(mailbox: string | null): number {
    void this.#version
    return mailbox === null ? this.#freshCount : (this.#fresh.get(mailbox)?.size ?? 0)
  }

  emptied(mailbox: string | null): void {
    if (mailbox === null) this.#fresh.clear()
    else this.#fresh.delete(mailbox)
    this.#freshCount = [...this.#fresh.values()].reduce((sum, ids) => sum + ids.size, 0)
    this.#version += 1
  }

  /** What is not written yet is written now. */
  flush(): void {
    if (this.#writing === undefined) return
    clearTimeout(this.#writing)
    this.#writing = undefined
    const kept: Kept = { cursors: Object.fromEntries([...this.#cursors].slice(-MAILBOXES_MAX)), ids: [...this.#ids] }
    write(this.#shelf, KEY, kept)
  }

  #take(copy: Copy): void {
    this.#lift(copy.mailbox, copy.id)
    if (copy.id <= (this.#cursors.get(copy.mailbox) ?? '')) return
    const name = nameOf(copy)
    this.#ids.delete(name)
    this.#ids.add(name)
    if (this.#ids.size > IDS_MAX) this.#ids.delete(this.#ids.values().next().value ?? '')
  }

  #lift(mailbox: string, id: string): void {
    if (this.#fresh.get(mailbox)?.delete(id)) this.#freshCount -= 1
  }

  /** The mark "all read up to here" becomes marks of single messages, as far as they are known. */
  #split(mailbox: string, cursor: string, all: readonly Row[]): void {
    const known = all.flatMap((row) => row.copies).filter((copy) => copy.mailbox === mailbox && copy.id <= cursor)
    this.#cursors.delete(mailbox)
    for (const copy of known.reverse()) this.#take(copy)
  }

  #changed(): void {
    this.#version += 1
    this.#writing ??= setTimeout(() => this.flush(), WRITE_AFTER)
  }
}
