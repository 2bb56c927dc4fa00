// A URL and what it shows, both ways. Pure: it knows no window and no state.

export const TABS = ['html', 'text', 'headers', 'source', 'parts'] as const
export type Tab = (typeof TABS)[number]

/** The messages of one mailbox, or of all. */
export type Scope = { kind: 'all' } | { kind: 'mailbox'; name: string }

export interface Mail {
  view: 'mail'
  /** The list that is shown, which need not be that of the open message's mailbox. */
  scope: Scope
  /** What the list is searched for; empty for everything. */
  q: string
  /** The open message. */
  open: { mailbox: string; id: string } | null
  tab: Tab | null
  /** Always the newest. */
  follow: boolean
}

export type Aside = 'monitor' | 'faults' | 'connect' | 'help' | 'login'
export type Route = Mail | { view: Aside; next: string | null } | { view: 'unknown'; path: string }

export const ALL: Scope = { kind: 'all' }
export const mailbox = (name: string): Scope => ({ kind: 'mailbox', name })
export const sameScope = (a: Scope, b: Scope): boolean =>
  a.kind === 'all' ? b.kind === 'all' : b.kind === 'mailbox' && a.name === b.name

export function listing(scope: Scope, q = ''): Mail {
  return { view: 'mail', scope, q, open: null, tab: null, follow: false }
}

export function following(scope: Scope): Mail {
  return { ...listing(scope), follow: true }
}

/** One message, with the list it was opened from. */
export function reading(mailbox: string, id: string, from?: { scope: Scope; q: string }, tab: Tab | null = null): Mail {
  const scope = from?.scope ?? { kind: 'mailbox', name: mailbox }
  return { view: 'mail', scope, q: from?.q ?? '', open: { mailbox, id }, tab, follow: false }
}

/** `base` is the path of the page's `<base>`, with a slash at its end. */
export function parse(url: URL, base: string): Route {
  const path = url.pathname.startsWith(base) ? url.pathname.slice(base.length) : url.pathname.replace(/^\//, '')
  const words = path.split('/')
  const q = url.searchParams.get('q') ?? ''
  const unknown: Route = { view: 'unknown', path: '/' + path }
  if (path === '') return listing(ALL, q)
  if (path === 'latest') return following(ALL)
  if (words.length === 1 && isAside(path)) return { view: path, next: url.searchParams.get('next') }
  if (words[0] !== 'm') return unknown
  const name = decoded(words[1])
  if (!name || words.length > 4) return unknown
  const own = mailbox(name)
  const id = decoded(words[2])
  if (!id) return words.length > 3 ? unknown : listing(own, q)
  const tab = words[3] ?? null
  if (tab !== null && !isTab(tab)) return unknown
  if (id === 'latest') return { ...following(own), tab }
  const scope = url.searchParams.get('in') === 'all' ? ALL : own
  return { view: 'mail', scope, q, open: { mailbox: name, id }, tab, follow: false }
}

/** The URL of a route, under `base`. */
export function href(route: Route, base: string): string {
  if (route.view === 'unknown') return base + route.path.slice(1)
  if (route.view !== 'mail') return base + route.view + query({ next: route.next ?? '' })
  const { scope, q, open, tab, follow } = route
  const name = scope.kind === 'mailbox' ? `m/${encodeURIComponent(scope.name)}` : ''
  if (follow) return base + (name ? `${name}/latest${tab ? `/${tab}` : ''}` : 'latest')
  if (!open) return base + name + query({ q })
  const path = `m/${encodeURIComponent(open.mailbox)}/${encodeURIComponent(open.id)}${tab ? `/${tab}` : ''}`
  return base + path + query({ in: scope.kind === 'all' ? 'all' : '', q })
}

function query(values: Record<string, string>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '')
  return given.length ? '?' + new URLSearchParams(given).toString() : ''
}

function decoded(word: string | undefined): string {
  try {
    return decodeURIComponent(word ?? '')
  } catch {
    return ''
  }
}

const isTab = (word: string): word is Tab => (TABS as readonly string[]).includes(word)
const isAside = (word: string): word is Aside => ['monitor', 'faults', 'connect', 'help', 'login'].includes(word)
