// The one way to the server: typed calls of API v2, and its refusals as `Problem`. Knows no state.
import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './schema'

type Schemas = components['schemas']
export type Summary = Schemas['Summary']
export type Part = Schemas['Part']
export type Attachment = Schemas['Attachment']
export type Message = Schemas['Message']
export interface SmtpDoor {
  host: string
  port: number
  tls: 'none' | 'starttls' | 'implicit'
  auth: 'none' | 'any' | 'required'
}
export type Server = Omit<Schemas['Server'], 'smtp'> & { smtp: SmtpDoor[] }
export type MailboxItem = Schemas['MailboxItem']
export type Release = Schemas['Release']
export type Plan = Schemas['FaultPlan']

/** A refusal of the server, or its silence (status 0). `message` says what to do next. */
export class Problem extends Error {
  readonly status: number
  readonly slug: string
  readonly requestId: string | null
  /** Seconds until it is worth asking again. */
  readonly retryAfter: number | null
  /** What else the problem carries: `errors`, `nearest`, `needs` … */
  readonly members: Record<string, unknown>
  /** When it was met, from which `retryAfter` counts. */
  readonly at = Date.now()

  constructor(status: number, members: Record<string, unknown>, retryAfter: number | null = null) {
    super(typeof members.detail === 'string' ? members.detail : `The server answered ${status}.`)
    this.status = status
    this.slug = String(members.type ?? '').replace('urn:postkeep:problem:', '')
    this.requestId = typeof members.requestId === 'string' ? members.requestId : null
    this.retryAfter = retryAfter
    this.members = members
  }
}

export type Calls = Client<paths>

/** What a call answered; anything but success is thrown as a `Problem`. */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call.catch((fault: unknown) => {
    if (fault instanceof DOMException && fault.name === 'AbortError') throw fault
    throw new Problem(0, { type: 'network' })
  })
  if (error !== undefined || !response.ok) throw problem(response, error)
  return data as T
}

export function problem(response: Response, body: unknown): Problem {
  const wait = Number(response.headers.get('retry-after') ?? NaN)
  const members = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return new Problem(response.status, members, Number.isFinite(wait) ? wait : null)
}

/** `root` is where the page lives, with a slash at its end. */
export function connect(root: URL, fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis)): Calls {
  return createClient<paths>({
    baseUrl: root.href.replace(/\/$/, ''),
    fetch: (request) => fetch(request),
    credentials: 'same-origin',
    cache: 'no-store',
    querySerializer: { array: { style: 'form', explode: true } },
  })
}
