// What was deleted on the screen and not yet on the server: for eight seconds it can be had back. Then the call is made, or at
// once when the page is left. Knows no list: it says what is hidden, and tells when that changes.
import { answer, Problem, type Calls } from '../api/client'
import { t } from '../i18n'
import type { Notices } from './notices.svelte'
import type { Copy } from './row'

const UNDO_MAX = 8000
const BULK_MAX = 1000

type Deed =
  | { kind: 'delete'; copies: readonly Copy[]; names: Set<string>; notice: number; under: boolean }
  | { kind: 'purge'; mailbox: string | null; cursor: string | null; at: string; notice: number; under: boolean }

export interface PendingEvents {
  /** What is hidden is another set than before. */
  changed(): void
  /** These are about to be hidden; whoever shows one of them moves on. */
  leaving(copies: readonly Copy[]): void
  /** All of a mailbox, or of all mailboxes, likewise. */
  emptying(mailbox: string | null): void
  /** The server has done it. */
  deleted(copies: readonly Copy[]): void
  purged(mailbox: string | null, at: string): void
}

export class Pending {
  #calls: Calls
  #notices: Notices
  #deeds = $state.raw<Deed[]>([])
  #bulkMax: () => number
  events: PendingEvents = { changed() {}, leaving() {}, emptying() {}, deleted() {}, purged() {} }

  constructor(calls: Calls, notices: Notices, bulkMax: () => number | undefined = () => undefined) {
    this.#calls = calls
    this.#notices = notices
    this.#bulkMax = () => bulkMax() ?? BULK_MAX
  }

  /** Something can be undone. */
  get any(): boolean {
    return this.#deeds.length > 0
  }

  hides(copy: Copy, receivedAt: string): boolean {
    return this.#deeds.some((deed) =>
      deed.kind === 'delete'
        ? deed.names.has(`${copy.mailbox}/${copy.id}`)
        : (deed.mailbox === null || deed.mailbox === copy.mailbox) && receivedAt <= deed.at,
    )
  }

  /** All of this mailbox (null: of all mailboxes) that was there is hidden. */
  purges(mailbox: string | null): boolean {
    return this.#deeds.some((deed) => deed.kind === 'purge' && (deed.mailbox === null || deed.mailbox === mailbox))
  }

  delete(targets: readonly Copy[], messages = targets.length): void {
    if (targets.length === 0) return
    this.events.leaving(targets)
    const names = new Set(targets.map((copy) => `${copy.mailbox}/${copy.id}`))
    this.#enter(t('pending.deleted', messages), (notice) => ({ kind: 'delete', copies: targets, names, notice, under: false }))
  }

  /** Up to the cursor that was shown, the newest of it received `at`: later mail stays. */
  purge(mailbox: string | null, cursor: string | null, at = new Date().toISOString()): void {
    this.events.emptying(mailbox)
    const said = mailbox === null ? t('pending.purgedAll') : t('pending.purged', mailbox)
    this.#enter(said, (notice) => ({ kind: 'purge', mailbox, cursor, at, notice, under: false }))
  }

  /** The last one. */
  undo(): void {
    const deed = this.#deeds.findLast((one) => !one.under)
    if (!deed) return
    this.#notices.close(deed.notice, 'acted')
    this.#leave(deed)
  }

  /** The page is left: what was said to be deleted is deleted. */
  flush(): void {
    for (const deed of this.#deeds) {
      this.#notices.close(deed.notice, 'acted')
      void this.#commit(deed, true)
    }
  }

  #enter(text: string, make: (notice: number) => Deed): void {
    const action = { label: t('undo'), run: () => this.#leave(deed) }
    const notice = this.#notices.say(text, { action, left: UNDO_MAX, ended: () => void this.#commit(deed, false) })
    const deed = make(notice)
    this.#deeds = [...this.#deeds, deed]
    this.events.changed()
  }

  #leave(deed: Deed): void {
    this.#deeds = this.#deeds.filter((one) => one !== deed)
    this.events.changed()
  }

  async #commit(deed: Deed, keepalive: boolean): Promise<void> {
    if (deed.under) return
    deed.under = true
    try {
      await (deed.kind === 'delete' ? this.#delete(deed.copies, keepalive) : this.#purge(deed.mailbox, deed.cursor, keepalive))
      if (deed.kind === 'delete') this.events.deleted(deed.copies)
      else this.events.purged(deed.mailbox, deed.at)
    } catch (fault) {
      const why = fault instanceof Problem && fault.status !== 0 ? fault.message : t('error.network')
      this.#notices.say(t('pending.failed', why), { tone: 'fault', left: UNDO_MAX })
    }
    this.#leave(deed)
  }

  async #delete(copies: readonly Copy[], keepalive: boolean): Promise<void> {
    const calls: Promise<unknown>[] = []
    for (const name of new Set(copies.map((copy) => copy.mailbox))) {
      const ids = copies.filter((copy) => copy.mailbox === name).map((copy) => copy.id)
      for (let at = 0; at < ids.length; at += this.#bulkMax()) {
        const body = { ids: ids.slice(at, at + this.#bulkMax()) }
        calls.push(answer(this.#calls.POST('/api/v2/mailboxes/{name}/messages/delete', { params: { path: { name } }, body, keepalive })))
      }
    }
    await Promise.all(calls)
  }

  async #purge(name: string | null, cursor: string | null, keepalive: boolean): Promise<void> {
    const until = cursor ?? undefined
    if (name === null) await answer(this.#calls.DELETE('/api/v2/messages', { params: { query: { all: true, until } as { all: boolean } }, keepalive }))
    else await answer(this.#calls.DELETE('/api/v2/mailboxes/{name}/messages', { params: { path: { name }, query: { until } as never }, keepalive }))
  }
}
