// Who follows whom: the list and the message follow the route, what came is counted, spoken and perhaps opened, and whoever is
// deleted is left. Everything here is one part of the state telling another; it shows and asks nothing itself.
import { flushSync, untrack } from 'svelte'
import { t } from '../i18n'
import { ALL, listing, reading, type Mail, type Route } from '../router'
import type { AppState } from './app.svelte'
import { placeOf } from './listing'
import type { Copy, Row } from './row'
import type { Came } from './rows'

const MINUTE = 60_000
const SPOKEN_EVERY = 5000
const GLANCE = 15_000

export class Conduct {
  #app: AppState
  #unspoken = { count: 0, since: 0 }
  #who: string | null = null

  constructor(app: AppState) {
    this.#app = app
    this.#wire()
  }

  /** Begins to follow the route; what it hands back ends that. */
  start(): () => void {
    if (!this.#app.server.about) void this.#app.server.read()
    const minute = onTheMinute(() => this.#app.list.expire())
    // Faults come into force and end while the page is open.
    const glance = setInterval(() => void (this.#app.server.about?.faults !== undefined && this.#app.server.read()), GLANCE)
    const stop = $effect.root(() => {
      $effect(() => {
        const [route, about] = [this.#app.nav.route, this.#app.server.about ?? this.#app.server.problem]
        untrack(() => this.#arrive(route, about !== null))
      })
      $effect(() => {
        const route = this.#app.nav.route
        const target = route.view !== 'mail' ? null : route.follow ? this.#app.list.newest() : route.open
        untrack(() => this.#app.reading.show(target))
      })
      $effect(() => {
        const { scope, status, rows } = this.#app.list
        if (scope?.kind === 'mailbox' && status === 'ready') untrack(() => this.#caughtUp(scope.name, rows))
      })
      $effect(() => {
        const state = this.#app.live.state
        untrack(() => this.#app.list.streamed(state))
      })
      $effect(() => {
        // Where nothing may be done nothing is asked, so no refusal would lead to the door.
        const [, about] = [this.#app.nav.route, this.#app.server.about]
        if (about?.mode === 'token' && about.verbs?.length === 0) untrack(() => this.#app.session.missing())
      })
      $effect(() => {
        if (!this.#app.server.about || !this.#app.server.seesAll) return
        return this.#app.mailboxes.watch(() => (this.#app.live.scope?.kind === 'mailbox' ? this.#app.live.scope.name : null))
      })
    })
    // At once: what is asked for comes while the page is being put together.
    flushSync()
    return () => (minute(), clearInterval(glance), stop())
  }

  /** What the window is called. */
  get title(): string {
    const route = this.#app.nav.route
    if (route.view !== 'mail') return `${titleOf(route)}${t('name')}`
    const name = route.scope.kind === 'mailbox' ? route.scope.name : t('list.all')
    // What is older than the list reaches is known by the message alone.
    const row = route.open ? (this.#app.list.find(route.open.mailbox, route.open.id) ?? this.#app.reading.message) : route.follow ? this.#app.list.newest() : null
    const count = this.fresh ? `(${this.fresh}) ` : ''
    return row ? `${count}${row.subject || t('list.noSubject')} – ${name}` : `${count}${name} – ${t('name')}`
  }

  /** How many came to what is shown while the page was open, and were not opened. */
  get fresh(): number {
    const route = this.#app.nav.route
    return this.#app.seen.fresh(route.view === 'mail' && route.scope.kind === 'mailbox' ? route.scope.name : null)
  }

  #wire(): void {
    this.#app.nav.memory = () => this.#app.list.now?.place ?? null
    this.#app.seen.copiesOf = (copy) => this.#app.list.find(copy.mailbox, copy.id)?.copies ?? [copy]
    this.#app.list.events = {
      arrived: (came, first) => this.#arrived(came, first),
      gone: (copies) => this.#app.seen.gone(copies),
      purged: (mailbox) => this.#app.seen.emptied(mailbox),
    }
    this.#app.pending.events = {
      changed: () => this.#app.list.republish(),
      leaving: (copies) => this.#leave(copies),
      emptying: (mailbox) => this.#empty(mailbox),
      deleted: (copies) => this.#app.list.deleted(copies),
      purged: (mailbox, at) => this.#app.list.purged(mailbox, { at }),
    }
  }

  /** The route has changed, or what the server lets this visitor see. */
  #arrive(route: Route, known: boolean): void {
    if (route.view !== 'mail') {
      // The monitor has a stream of its own.
      if (route.view !== 'monitor' && known && this.#app.server.seesAll && !this.#app.list.scope) this.#app.live.follow(ALL, null)
      return
    }
    // Whether there is a list of all mail only the server knows.
    if (route.scope.kind === 'all' && !known) return
    if (route.scope.kind === 'all' && this.#app.server.isPublic) return this.#app.live.stop()
    if (route.scope.kind === 'mailbox' && known && !this.#app.server.seesAll) this.#app.mailboxes.remember(route.scope.name)
    this.#app.list.show(route.scope, route.q, placeOf(this.#app.nav.kept))
    this.#app.nav.kept = null
    this.#app.list.resume()
    this.#signed()
  }

  /** Somebody else looks now: what they may see is another list. */
  #signed(): void {
    const about = this.#app.server.about
    const who = about && `${about.mode} ${JSON.stringify(about.signedIn ?? null)}`
    if (who && this.#who && who !== this.#who) void this.#app.list.anew()
    this.#who = who ?? this.#who
  }

  #arrived({ rows, messages }: Came, first: boolean): void {
    this.#app.seen.arrived(messages)
    this.#app.mailboxes.arrived(messages)
    const [oldest] = rows
    const newest = rows.at(-1)
    if (!oldest || !newest) return
    this.#speak(rows.length, newest)
    const route = this.#app.nav.route
    // The first mail of an empty mailbox is what somebody waits for.
    if (first && route.view === 'mail' && !route.open && !route.follow && !route.q) this.#app.nav.step(reading(oldest.mailbox, oldest.id, route))
  }

  /** What the rail had guessed for a mailbox is on the screen now, as the newest of its lines. */
  #caughtUp(name: string, rows: readonly Row[]): void {
    const guessed = this.#app.mailboxes.shown(name)
    if (guessed) this.#app.seen.arrived(rows.slice(0, guessed))
  }

  #speak(count: number, newest: Row): void {
    const now = Date.now()
    if (now - this.#unspoken.since > SPOKEN_EVERY) this.#unspoken = { count: 0, since: now }
    this.#unspoken.count += count
    const who = newest.from.name || newest.from.email
    this.#app.notices.speak(this.#unspoken.count === 1 ? t('list.spoken', who, newest.subject || t('list.noSubject')) : t('list.spokenMany', this.#unspoken.count))
  }

  /** Away from what is about to be hidden: to the next that stays. */
  #leave(copies: readonly Copy[]): void {
    const names = new Set(copies.map((copy) => `${copy.mailbox}/${copy.id}`))
    const stays = (row: Row) => row.copies.some((copy) => !names.has(`${copy.mailbox}/${copy.id}`))
    const rows = this.#app.list.rows
    const at = (key: string | null | undefined) => rows.findIndex((row) => row.key === key)
    const beside = (from: number) => rows.slice(from).find(stays) ?? rows.slice(0, Math.max(0, from)).findLast(stays) ?? null
    const active = at(this.#app.list.selection.active)
    if (active >= 0) this.#app.list.selection.active = beside(active)?.key ?? null
    this.#leaveOpen((route) => {
      const open = route.open
      if (!open || !names.has(`${open.mailbox}/${open.id}`)) return null
      const next = beside(at(this.#app.list.find(open.mailbox, open.id)?.key))
      return next ? reading(next.mailbox, next.id, route) : listing(route.scope, route.q)
    })
  }

  #empty(mailbox: string | null): void {
    this.#leaveOpen((route) => (route.open && (mailbox === null || route.open.mailbox === mailbox) ? listing(route.scope, route.q) : null))
  }

  #leaveOpen(to: (route: Mail) => Mail | null): void {
    const next = this.#app.nav.route.view === 'mail' ? to(this.#app.nav.route) : null
    if (next) this.#app.nav.step(next)
  }
}

function titleOf(route: Route): string {
  switch (route.view) {
    case 'monitor': return `${t('monitor')} – `
    case 'faults': return `${t('faults')} – `
    case 'connect': return `${t('connect')} – `
    case 'help': return `${t('help')} – `
    case 'login': return `${t('sign.in')} – `
    default: return ''
  }
}

/** Each time the clock's minute is over. */
function onTheMinute(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const later = () => (timer = setTimeout(() => (run(), later()), MINUTE - (Date.now() % MINUTE)))
  later()
  return () => clearTimeout(timer)
}
