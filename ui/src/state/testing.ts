// For tests of the list: a server that answers from memory, and a stream that says what a test wants it to say.
import type { Calls, Summary } from '../api/client'
import type { StreamEvent } from '../api/stream'
import type { Scope } from '../router'
import type { Listener, Live } from './live.svelte'
import type { Shelf } from './prefs.svelte'

export class Memory implements Shelf {
  kept: Record<string, string> = {}
  getItem = (key: string) => this.kept[key] ?? null
  setItem = (key: string, value: string) => void (this.kept[key] = value)
  removeItem = (key: string) => void delete this.kept[key]
}

export const idOf = (number: number): string => String(number).padStart(13, '0')

export function summary(number: number, more: Partial<Summary> = {}): Summary {
  return {
    id: idOf(number), mailbox: 'ben', receivedAt: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(), size: 100,
    envelope: { mailFrom: 'a@x.test', rcptTo: ['ben@y.test'] }, from: { name: null, email: 'a@x.test' }, subject: `Mail ${number}`, tags: [], transaction: `t${number}`,
    otherRecipients: 0, ...more,
  }
}

/** A call that was made. */
export interface Asked {
  method: string
  path: string
  query: Record<string, unknown>
  body?: unknown
  keepalive?: boolean
}
type Answering = (asked: Asked) => unknown

/** Answers every call by one function; a number is a refusal with that status. */
export function fakeCalls(answering: Answering): { calls: Calls; asked: Asked[] } {
  const asked: Asked[] = []
  const call = (method: string) => async (path: string, init: { params?: { path?: Record<string, string>; query?: Record<string, unknown> }; body?: unknown; keepalive?: boolean; signal?: AbortSignal } = {}) => {
    const name = init.params?.path?.name
    const one: Asked = { method, path: name === undefined ? path : path.replace('{name}', name), query: init.params?.query ?? {}, body: init.body, keepalive: init.keepalive }
    asked.push(one)
    await Promise.resolve()
    init.signal?.throwIfAborted()
    const found = answering(one)
    if (found === 0) throw new TypeError('fetch failed')
    if (typeof found === 'number') return { error: { detail: `refused ${found}` }, response: new Response(null, { status: found }) }
    return { data: found, response: new Response(null, { status: 200 }) }
  }
  return { calls: { GET: call('GET'), POST: call('POST'), DELETE: call('DELETE') } as unknown as Calls, asked }
}

/** A mailbox, or all: what is listed, page by page, as the server would. */
export function serving(all: () => Summary[]): Answering {
  return ({ path, query }) => {
    const name = /mailboxes\/([^/]+)\/messages$/.exec(path)?.[1]
    const items = all().filter((one) => name === undefined || one.mailbox === name).sort((a, b) => (a.id < b.id ? 1 : -1))
    if (Array.isArray(query.ids)) return { items: items.filter((one) => (query.ids as string[]).some((id) => id.endsWith(one.id))).map((one) => ({ id: one.id, mailbox: one.mailbox, preview: `Text of ${one.subject}`, codes: [], links: [], attachments: [], to: [], cc: [] })) }
    const since = typeof query.since === 'string' ? query.since.slice(1) : ''
    const from = typeof query.page === 'string' ? items.findIndex((one) => one.id < String(query.page)) : 0
    const limit = Number(query.limit)
    const page = items.filter((one) => one.id > since).slice(from < 0 ? items.length : from, (from < 0 ? items.length : from) + limit)
    const last = page.at(-1)
    return { items: page, total: items.length, next: last && items.at(-1) !== last && !since ? last.id : null, cursor: `c${items[0]?.id ?? ''}` }
  }
}

export class FakeLive {
  scope: Scope | null = null
  followed: { scope: Scope; since: string | null; refusals: boolean }[] = []
  #listeners: Listener[] = []
  listen(listener: Listener): () => void {
    this.#listeners.push(listener)
    return () => undefined
  }
  follow(scope: Scope, since: string | null, refusals = false): void {
    this.scope = scope
    this.followed.push({ scope, since, refusals })
  }
  say(event: string, data: unknown, id = ''): void {
    const said: StreamEvent = { event, id, data }
    for (const listener of this.#listeners) listener.event(said)
  }
  deliver(message: Summary): void {
    this.say('deliver', { mailbox: message.mailbox, id: message.id, message }, `c${message.id}`)
  }
  get live(): Live {
    return this as unknown as Live
  }
}
