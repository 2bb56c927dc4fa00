// What keys and palette do with the list: walking, choosing, deleting. Knows no element; the list moves the focus itself.
import type { Action } from '../keys'
import { ALL, following, listing, mailbox, reading, type Mail } from '../router'
import type { AppState } from '../state/app.svelte'
import type { Row } from '../state/row'

type Deeds = Partial<Record<Action, () => void>>

/** The line of the open message. */
export function openRow(app: AppState): Row | null {
  const route = app.nav.route
  if (route.view !== 'mail') return null
  if (route.follow) return app.list.newest()
  return route.open && app.list.find(route.open.mailbox, route.open.id)
}

/** What deleting and marking is about: what is chosen, else the open one, else the one that keys stand on. */
export function meant(app: AppState): readonly Row[] {
  const { selected, selection, rows } = app.list
  if (selected.length) return selected
  const one = openRow(app) ?? rows.find((row) => row.key === selection.active)
  return one ? [one] : []
}

export function deleteMeant(app: AppState): void {
  const rows = meant(app)
  if (rows.length === 0) return
  const copies = rows.flatMap((row) => row.copies)
  app.list.selection.clear()
  app.list.selection.active ??= rows[0]?.key ?? null
  app.pending.delete(copies, rows.length)
  app.list.selection.summon()
}

export function markUnread(app: AppState): void {
  app.seen.unopen(meant(app), app.list.rows)
  app.list.selection.clear()
}

/** While a list of mail is on the screen. */
export function listDeeds(app: AppState): Deeds {
  const { list } = app
  const { selection } = list
  const walk = (by: 1 | -1) => mail(app, (route) => {
    const from = openRow(app)?.key ?? selection.active
    const at = list.rows.findIndex((row) => row.key === from)
    const to = list.rows[at < 0 ? 0 : at + by]
    if (!to) return
    selection.active = to.key
    go(app, route, to)
  })
  const here = () => (selection.active ??= openRow(app)?.key ?? list.newest()?.key ?? null)
  return {
    next: () => walk(1),
    previous: () => walk(-1),
    open: () => mail(app, (route) => {
      const row = list.rows.find((one) => one.key === selection.active)
      if (row) go(app, route, row)
    }),
    back: () => mail(app, (route) => back(app, route)),
    select: () => {
      const key = here()
      if (key) selection.toggle(key)
    },
    selectDown: () => (here(), selection.step(list.rows, 1)),
    selectUp: () => (here(), selection.step(list.rows, -1)),
    selectAll: () => selection.all(list.rows),
    ...(app.server.may('delete') ? { delete: () => deleteMeant(app) } : {}),
    undo: () => app.pending.undo(),
    unread: () => markUnread(app),
  }
}

/** Wherever the rail is. */
export function placeDeeds(app: AppState): Deeds {
  const { nav } = app
  const scope = () => (nav.route.view === 'mail' ? nav.route.scope : ALL)
  const own = () => {
    const route = nav.route
    if (route.view !== 'mail') return null
    return route.open?.mailbox ?? openRow(app)?.mailbox ?? (route.scope.kind === 'mailbox' ? route.scope.name : null)
  }
  return {
    goAll: () => nav.go(listing(ALL)),
    goMailbox: () => {
      const name = own()
      if (name === null) app.actions.run('field')
      else nav.go(listing(mailbox(name)))
    },
    goNewest: () => nav.go(following(scope())),
    ...(app.server.about?.verbs.includes('fault') ? { goFaults: () => nav.go({ view: 'faults', next: null }) } : {}),
    ...(app.server.seesAll ? { goMonitor: () => nav.go({ view: 'monitor', next: null }) } : {}),
  }
}

function mail(app: AppState, run: (route: Mail) => void): void {
  if (app.nav.route.view === 'mail') run(app.nav.route)
}

/** From one message to the next is a step; the first one is a place that Back leaves. */
function go(app: AppState, route: Mail, row: Row): void {
  const to = reading(row.mailbox, row.id, route, route.tab)
  if (route.open || route.follow) app.nav.step(to)
  else app.nav.go(to)
}

function back(app: AppState, route: Mail): void {
  if (app.shell.drawer) app.shell.drawer = false
  else if (app.list.selection.size) app.list.selection.clear()
  else if (app.shell.alone) app.shell.alone = false
  else if (route.open || route.follow) app.nav.go(listing(route.scope, route.q))
  else if (route.q) app.nav.go(listing(route.scope))
}
