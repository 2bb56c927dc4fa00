// The message on the screen: reads it when the route or the newest says so, and what is derived from it. Knows no list and no frame.
import { answer, Problem, problem, type Calls, type Message } from '../api/client'
import type { Mail, Tab } from '../router'
import { pickCode, pickLink, type Code, type Link } from './pick'
import { SourceText } from './source.svelte'

export interface Target {
  mailbox: string
  id: string
}

/** HTML above this is shown on wish only: laying it out may take seconds. */
export const HTML_MAX = 1024 * 1024
/** A text part is shown up to here. */
const PREVIEW_MAX = 64 * 1024

export class Reading {
  /** What is to be shown; `message` follows. */
  target = $state.raw<Target | null>(null)
  /** The whole of it; null until it is read. */
  message = $state.raw<Message | null>(null)
  problem = $state.raw<Problem | null>(null)
  source: SourceText
  #calls: Calls
  #base: string
  #opened: (target: Target) => void
  #asking: AbortController | null = null
  /** The message whose remote content was asked for once. */
  #loaded = $state.raw<Message | null>(null)

  /** `base` is the path of the page, with a slash at its end; `opened` is told what was shown. */
  constructor(calls: Calls, base: string, opened: (target: Target) => void = () => {}) {
    this.#calls = calls
    this.#base = base
    this.#opened = opened
    this.source = new SourceText(calls)
  }

  status: 'none' | 'reading' | 'ready' | 'fault' = $derived(this.problem ? 'fault' : this.message ? 'ready' : this.target ? 'reading' : 'none')
  /** What the kit's `code()` would take. */
  code: Code | null = $derived(pickCode(this.message?.codes ?? []))
  /** What the kit's `link()` would take, if it can be opened at all. */
  link: Link | null = $derived(pickLink((this.message?.links ?? []).filter((link) => opens(link.href))))
  hasHtml = $derived(htmlSize(this.message) !== null)
  htmlSize = $derived(htmlSize(this.message))
  /** Of this one message, until another is opened. */
  remoteOnce = $derived(this.message !== null && this.#loaded === this.message)

  /** Shows this one; the same again changes nothing. */
  show(target: Target | null): void {
    if (target?.mailbox === this.target?.mailbox && target?.id === this.target?.id) return
    this.target = target && { mailbox: target.mailbox, id: target.id }
    this.source.close()
    this.message = null
    this.problem = null
    void this.again()
  }

  async again(): Promise<void> {
    this.#asking?.abort()
    const target = this.target
    if (!target) return
    const asking = (this.#asking = new AbortController())
    try {
      const path = { name: target.mailbox, id: target.id }
      const message = await answer(this.#calls.GET('/api/v2/mailboxes/{name}/messages/{id}', { params: { path }, signal: asking.signal }))
      if (asking.signal.aborted) return
      this.problem = null
      this.message = message
      this.#opened({ mailbox: message.mailbox, id: message.id })
    } catch (fault) {
      if (!asking.signal.aborted && fault instanceof Problem) this.problem = fault
    }
  }

  /** The tab that is shown: the route's, else what the message has. */
  tab(route: Mail): Tab {
    if (route.tab && (route.tab !== 'html' || this.hasHtml || !this.message)) return route.tab
    return this.hasHtml && (this.htmlSize ?? 0) <= HTML_MAX ? 'html' : 'text'
  }

  /** Remote content of this message is loaded, until another is opened. */
  loadRemote(): void {
    this.#loaded = this.message
  }

  /** For the frame: `#mail` is the root, from which Shift+Tab leaves the frame whatever links the mail has. */
  htmlUrl(remote: boolean): string {
    return `${this.#url()}/html${remote ? '?remote=true' : ''}#mail`
  }

  sourceUrl(): string {
    return `${this.#url()}/source`
  }

  partUrl(partId: string, view = false): string {
    return `${this.#url()}/parts/${encodeURIComponent(partId)}${view ? '?view=true' : ''}`
  }

  /** The first letters of a text part. */
  async partText(partId: string): Promise<string> {
    const { mailbox: name = '', id = '' } = this.message ?? {}
    const path = { name, id, partId }
    const { response, error } = await this.#calls.GET('/api/v2/mailboxes/{name}/messages/{id}/parts/{partId}', { params: { path, query: { view: true } }, parseAs: 'stream' })
    if (!response.ok || !response.body) throw problem(response, error)
    return firstLetters(response.body, charset(response))
  }

  #url(): string {
    const { mailbox, id } = this.message ?? this.target ?? { mailbox: '', id: '' }
    return `${this.#base}api/v2/mailboxes/${encodeURIComponent(mailbox)}/messages/${encodeURIComponent(id)}`
  }
}

/** Only these leave the page by a click. */
export const opens = (href: string): boolean => /^(https?:|mailto:)/i.test(href)

function htmlSize(message: Message | null): number | null {
  if (message?.htmlSize !== undefined) return message.htmlSize
  return message?.html == null ? null : message.truncated.includes('html') ? HTML_MAX + 1 : message.html.length
}

function charset(response: Response): TextDecoder {
  const named = /charset="?([\w.:-]+)/i.exec(response.headers.get('content-type') ?? '')?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(named)
  } catch {
    return new TextDecoder()
  }
}

async function firstLetters(body: ReadableStream<Uint8Array>, decoder: TextDecoder): Promise<string> {
  const reader = body.getReader()
  let text = ''
  for (let bytes = 0; bytes < PREVIEW_MAX; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return `${text.slice(0, PREVIEW_MAX)}…`
}
