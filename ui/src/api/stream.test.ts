// The stream: pieces to events, going on from the last id, and when it gives up waiting.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EventStream, Frames, type StreamEvent, type StreamState } from './stream'

describe('frames', () => {
  it('puts pieces together', () => {
    const frames = new Frames()
    expect(frames.push('event: hello\nid: A1\nda')).toEqual([])
    expect(frames.push('ta: {"cursor":"A1"}\n\n: still there\n\nevent: del')).toEqual([{ event: 'hello', id: 'A1', data: { cursor: 'A1' } }])
    expect(frames.push('ete\ndata: {"id":"1"}\n\n')).toEqual([{ event: 'delete', id: '', data: { id: '1' } }])
  })

  it('passes over what is no JSON', () => {
    expect(new Frames().push('event: x\ndata: {"a\n\nevent: y\ndata: 1\n\n')).toEqual([{ event: 'y', id: '', data: 1 }])
  })
})

/** A server whose answers the test writes, one for each request. */
class Wire {
  asked: Headers[] = []
  #answers: { write: (text: string) => void; end: () => void }[] = []
  refuse: Response | null = null

  fetch = ((_url: string, init: RequestInit) => {
    this.asked.push(new Headers(init.headers))
    if (this.refuse) return Promise.resolve(this.refuse)
    const body = new ReadableStream<Uint8Array>({
      start: (control) => {
        const bytes = new TextEncoder()
        this.#answers.push({ write: (text) => control.enqueue(bytes.encode(text)), end: () => control.close() })
        init.signal?.addEventListener('abort', () => control.error(new DOMException('aborted', 'AbortError')))
      },
    })
    return Promise.resolve(new Response(body))
  }) as typeof fetch

  get last() {
    const answer = this.#answers.at(-1)
    if (!answer) throw new Error('nobody asked')
    return answer
  }
}

describe('stream', () => {
  let wire: Wire
  let events: StreamEvent[]
  let states: StreamState['kind'][]
  let stream: EventStream

  beforeEach(() => {
    vi.useFakeTimers()
    wire = new Wire()
    events = []
    states = []
  })
  afterEach(() => {
    stream.close()
    vi.useRealTimers()
  })
  const open = (since: string | null = null) => {
    stream = new EventStream({
      url: () => 'http://pk.test/api/v2/events', since, fetch: wire.fetch, random: () => 1,
      event: (event) => events.push(event), state: (state) => states.push(state.kind),
    })
    return vi.advanceTimersByTimeAsync(0)
  }
  const hello = 'event: hello\nid: A1\ndata: {}\n\n'

  it('goes on from the last id when the connection ends', async () => {
    await open('A0')
    expect(wire.asked[0]?.get('last-event-id')).toBe('A0')
    wire.last.write(hello + 'event: deliver\nid: A2\ndata: {}\n\n')
    await vi.advanceTimersByTimeAsync(0)
    wire.last.end()
    await vi.advanceTimersByTimeAsync(500)
    expect(wire.asked[1]?.get('last-event-id')).toBe('A2')
    expect(events.map((event) => event.event)).toEqual(['hello', 'deliver'])
    expect(states).toEqual(['connecting', 'live', 'waiting', 'connecting'])
  })

  it('takes 35 seconds of silence for a lost connection, and a comment for life', async () => {
    await open()
    wire.last.write(hello)
    await vi.advanceTimersByTimeAsync(34_000)
    wire.last.write(': still there\n\n')
    await vi.advanceTimersByTimeAsync(34_000)
    expect(wire.asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(wire.asked).toHaveLength(2)
  })

  it('waits longer each time, and at once when woken', async () => {
    wire.refuse = new Response(null, { status: 503 })
    await open()
    await vi.advanceTimersByTimeAsync(500 + 1000 + 2000)
    expect(wire.asked).toHaveLength(4)
    stream.wake()
    await vi.advanceTimersByTimeAsync(0)
    expect(wire.asked).toHaveLength(5)
    await vi.advanceTimersByTimeAsync(600_000)
    expect(wire.asked.length).toBeLessThan(50)
  })

  it('does not ask again after a refusal that stays', async () => {
    wire.refuse = new Response('{"status":403}', { status: 403 })
    await open()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(wire.asked).toHaveLength(1)
    expect(states.at(-1)).toBe('refused')
  })
})
