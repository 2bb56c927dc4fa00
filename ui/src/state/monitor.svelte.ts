// Arrivals and refusals as they happen: a line for each transaction with what the sender was answered. Hiding lines deletes
// nothing. It listens while it is looked at and remembers a few hundred lines.
import { answer, Problem, type Calls, type Summary } from '../api/client'
import type { StreamEvent, StreamState } from '../api/stream'
import { ALL } from '../router'
import type { Live } from './live.svelte'
import { Pace } from './pace'
import type { Copy } from './row'

const LINES_MAX = 500
/** Lines from before it was opened, and messages to make them of: a transaction may have many. */
const BEFORE = 30
const ASKED = 200

export interface MonitorLine {
  key: string
  at: string
  kind: 'deliver' | 'refuse' | 'fault'
  mailFrom: string | null
  rcptTo: readonly string[]
  /** Of the transaction; not all of them need to be known here. */
  recipients: number
  /** Of what was taken. */
  subject: string | null
  copies: readonly Copy[]
  /** Of what was refused. */
  stage: string | null
  peer: string | null
  reply: string
  /** What brought this about on demand: the id of a plan, or an address. */
  fault: string | null
}

interface Refusal {
  at: string
  stage: string
  mailFrom: string | null
  rcptTo: string[]
  helo: string | null
  peer: string | null
  reply: string
  fault?: string | null
}

/** A fault that did something and refused nothing by it. */
interface Acted {
  at: string
  stage: string
  mailFrom: string | null
  rcptTo: string[]
  fault: string
  what: string
}

export class Monitor {
  /** Newest first. */
  lines = $state.raw<readonly MonitorLine[]>([])
  paused = $state.raw(false)
  /** Came while paused. */
  waiting = $state.raw(0)
  hidden = $state.raw(0)
  problem = $state.raw<Problem | null>(null)
  /** The server tells of refusals. */
  refusals = $state.raw(true)
  #calls: Calls
  #live: Live
  #all: MonitorLine[] = []
  #pace = new Pace<StreamEvent>((events) => this.#take(events))
  #next = 1
  #isOpen = false

  constructor(calls: Calls, live: Live) {
    this.#calls = calls
    this.#live = live
    live.listen({ event: (event) => this.#heard(event) })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Somebody looks at it: what came before is listed, then the stream goes on. */
  async open(): Promise<void> {
    this.#isOpen = true
    this.#pace.hold()
    let cursor: string | null = null
    try {
      const recent = await answer(this.#calls.GET('/api/v2/messages', { params: { query: { limit: ASKED } } }))
      cursor = recent.cursor ?? null
      this.problem = null
      this.#add((recent.items as Summary[]).toReversed().map(delivered), BEFORE)
    } catch (fault) {
      if (fault instanceof Problem) this.problem = fault
    }
    if (this.#isOpen) this.#live.follow(ALL, cursor, this.refusals)
    this.#pace.release()
  }

  close(): void {
    this.#isOpen = false
  }

  /** A server that does not know refusals, or does not tell this visitor, tells of arrivals still. */
  streamed(state: StreamState): void {
    if (!this.#isOpen || state.kind !== 'refused' || !this.refusals) return
    if (state.status !== 400 && state.status !== 403) return
    this.refusals = false
    this.#live.follow(ALL, null, false)
  }

  pause(paused: boolean): void {
    this.paused = paused
    this.#publish()
  }

  /** What is there now leaves the screen. */
  hideOlder(): void {
    this.hidden = this.#all.length - this.waiting
    this.#publish()
  }

  showOlder(): void {
    this.hidden = 0
    this.#publish()
  }

  #heard(event: StreamEvent): void {
    if (!this.#isOpen) return
    if (['deliver', 'refuse', 'fault'].includes(event.event)) this.#pace.push(event)
  }

  #take(events: readonly StreamEvent[]): void {
    this.#add(
      events.map(({ event, data }) => {
        if (event === 'deliver') return delivered((data as { message: Summary }).message)
        const key = `${event} ${this.#next++}`
        return event === 'refuse' ? refused(data as Refusal, key) : acted(data as Acted, key)
      }),
    )
  }

  /** In order of arrival; copies of one transaction are one line. */
  #add(lines: readonly MonitorLine[], max = LINES_MAX): void {
    const known = new Map(this.#all.map((line) => [line.key, line]))
    const fresh: MonitorLine[] = []
    for (const line of lines) {
      const same = known.get(line.key)
      if (!same) {
        known.set(line.key, line)
        fresh.unshift(line)
      } else if (!same.copies.some((copy) => line.copies.some((one) => one.id === copy.id && one.mailbox === copy.mailbox))) {
        const rcptTo = [...new Set([...same.rcptTo, ...line.rcptTo])]
        known.set(line.key, { ...same, copies: [...same.copies, ...line.copies], rcptTo, recipients: Math.max(rcptTo.length, same.recipients, line.recipients) })
      }
    }
    const all = [...fresh, ...this.#all].map((line) => known.get(line.key) ?? line)
    this.#all = all.slice(0, max)
    this.hidden = Math.max(0, this.hidden - (all.length - this.#all.length))
    if (this.paused) this.waiting = Math.min(LINES_MAX, this.waiting + fresh.length)
    this.#publish()
  }

  #publish(): void {
    if (!this.paused) this.waiting = 0
    this.lines = this.#all.slice(this.waiting, this.#all.length - this.hidden)
  }
}

function delivered(message: Summary): MonitorLine {
  const copy = { mailbox: message.mailbox, id: message.id }
  const rcptTo = message.envelope?.rcptTo ?? []
  return {
    key: message.transaction ?? `${copy.mailbox}/${copy.id}`,
    at: message.receivedAt, kind: 'deliver', mailFrom: message.envelope?.mailFrom || null, rcptTo,
    recipients: rcptTo.length + (message.otherRecipients ?? 0),
    subject: message.subject, copies: [copy], stage: null, peer: null, reply: '250', fault: null,
  }
}

function refused({ at, stage, mailFrom, rcptTo, peer, reply, fault = null }: Refusal, key: string): MonitorLine {
  return { key, at, kind: 'refuse', mailFrom, rcptTo, recipients: rcptTo.length, subject: null, copies: [], stage, peer, reply, fault }
}

function acted({ at, stage, mailFrom, rcptTo, fault, what }: Acted, key: string): MonitorLine {
  return { key, at, kind: 'fault', mailFrom, rcptTo, recipients: rcptTo.length, subject: null, copies: [], stage, peer: null, reply: what, fault }
}
