// How a list is asked for: page by page, what is new behind a cursor, and what is read of single messages. Keeps nothing.
import { answer, type Calls, type Summary } from '../api/client'
import type { Scope } from '../router'
import { nameOf, SEEN_FIELDS, type Copy, type Extract } from './row'

/** How a search went. */
export interface Search {
  complete: boolean
  engine: string
  reason?: string | null
  scanned: number
  scope: string
}

export interface Page {
  items: Summary[]
  total: number | null
  next: string | null
  /** Null where there is no place among all mailboxes. */
  cursor: string | null
  search: Search | null
}

interface Ask {
  limit: number
  page?: string | null
  since?: string
  signal?: AbortSignal
}

/** What every list answers, whosever mail it is of. */
interface Answered {
  items: unknown[]
  total?: number | null
  next?: string | null
  cursor?: string | null
  search?: Search | null
}

export class Pages {
  readonly scope: Scope
  readonly q: string
  #calls: Calls

  constructor(calls: Calls, scope: Scope, q: string) {
    this.#calls = calls
    this.scope = scope
    this.q = q
  }

  async read({ limit, page, since, signal }: Ask): Promise<Page> {
    const found = await this.#list({ limit, page: page ?? undefined, since, q: this.q || undefined }, signal)
    const { items, total, next, cursor, search } = found
    return { items: items as Summary[], total: total ?? null, next: next ?? null, cursor: cursor ?? null, search: search ?? null }
  }

  /** In one call, however many mailboxes they lie in. */
  async extracts(copies: readonly Copy[], signal?: AbortSignal): Promise<Extract[]> {
    const ids = copies.map((copy) => (this.scope.kind === 'all' ? nameOf(copy) : copy.id))
    return (await this.#list({ ids, fields: SEEN_FIELDS }, signal)).items as Extract[]
  }

  async #list(query: Record<string, unknown>, signal?: AbortSignal): Promise<Answered> {
    if (this.scope.kind === 'all') return answer(this.#calls.GET('/api/v2/messages', { params: { query }, signal }))
    const path = { name: this.scope.name }
    return answer(this.#calls.GET('/api/v2/mailboxes/{name}/messages', { params: { path, query }, signal }))
  }
}

/** A duration of the API (`7d`, `36h`) in milliseconds; infinite when it is none. */
export function milliseconds(text: string | null | undefined): number {
  const [, count, unit] = /^(\d+)(d|h|m|s|ms)$/.exec(text ?? '') ?? []
  const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }
  return count && unit ? Number(count) * (units[unit] ?? 1) : Infinity
}
