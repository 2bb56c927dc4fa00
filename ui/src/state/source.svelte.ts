// The source of a message as it is read: so many octets, then more on wish, never all at once. Holds no connection in between.
import { Problem, problem, type Calls } from '../api/client'

/** So much at a time, cut at the end of a line. */
export const CHUNK = 256 * 1024
/** So much is shown; the rest is in the download. */
export const SHOWN_MAX = 16 * CHUNK

export class SourceText {
  chunks = $state.raw<string[]>([])
  /** Octets shown. */
  shown = $state(0)
  ended = $state(false)
  problem = $state.raw<Problem | null>(null)
  reading = $state(false)
  #calls: Calls
  #of: { name: string; id: string } | null = null
  #asking: AbortController | null = null

  constructor(calls: Calls) {
    this.#calls = calls
  }

  /** That many may follow. */
  full = $derived(this.shown >= SHOWN_MAX)
  lines = $derived(this.chunks.reduce((sum, chunk) => sum + (chunk.match(/\n/g)?.length ?? 0), 0) + (this.chunks.at(-1)?.endsWith('\n') ? 0 : 1))

  /** Begins with this message, unless it has begun. */
  open(mailbox: string, id: string): void {
    if (this.#of?.name === mailbox && this.#of.id === id) return
    this.close()
    this.#of = { name: mailbox, id }
    void this.more()
  }

  close(): void {
    this.#asking?.abort()
    this.#of = null
    this.chunks = []
    this.shown = 0
    this.ended = false
    this.problem = null
    this.reading = false
  }

  async more(): Promise<void> {
    const path = this.#of
    if (!path || this.reading || this.ended || this.full) return
    const asking = (this.#asking = new AbortController())
    this.reading = true
    this.problem = null
    try {
      const { response, error } = await this.#calls.GET('/api/v2/mailboxes/{name}/messages/{id}/source', { params: { path }, parseAs: 'stream', signal: asking.signal })
      if (!response.ok || !response.body) throw problem(response, error)
      const { bytes, ended } = await taken(response.body, this.shown)
      if (asking.signal.aborted) return
      const cut = ended ? bytes : wholeLines(bytes)
      this.chunks = [...this.chunks, new TextDecoder().decode(cut).replace(/\r\n/g, '\n')]
      this.shown += cut.length
      this.ended = ended
    } catch (fault) {
      if (!asking.signal.aborted) this.problem = fault instanceof Problem ? fault : new Problem(0, { type: 'network' })
    } finally {
      if (!asking.signal.aborted) this.reading = false
    }
  }
}

/** A chunk of the stream behind `skip`; what is skipped is not kept. */
async function taken(body: ReadableStream<Uint8Array>, skip: number): Promise<{ bytes: Uint8Array; ended: boolean }> {
  const reader = body.getReader()
  const bytes = new Uint8Array(CHUNK)
  let at = -skip
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { bytes: bytes.subarray(0, Math.max(0, at)), ended: true }
    const from = Math.max(0, -at)
    if (from < value.length) bytes.set(value.subarray(from, from + CHUNK - (at + from)), at + from)
    at += value.length
    if (at > CHUNK) {
      void reader.cancel()
      return { bytes, ended: false }
    }
  }
}

/** Up to the last end of a line, or, where a line is longer than a chunk, to the end of a letter. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  const line = bytes.lastIndexOf(10)
  if (line >= 0) return bytes.subarray(0, line + 1)
  // The last letter, whole or not, is left to the next chunk.
  let end = bytes.length - 1
  while (end > bytes.length - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
