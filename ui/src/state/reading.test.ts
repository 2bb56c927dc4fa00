// The message on the screen: the last one asked for wins, what it shows first, and what is loaded once is loaded once.
import { expect, it } from 'vitest'
import { connect } from '../api/client'
import { reading as route } from '../router'
import { opens, Reading, type Target } from './reading.svelte'

const message = (id: string, more = {}) => ({
  id, mailbox: 'ben', receivedAt: '2026-11-14T09:30:00Z', size: 1, envelope: { mailFrom: null, rcptTo: [] }, from: { name: null, email: 'a@x.test' }, subject: id, tags: [],
  to: [], cc: [], bcc: [], replyTo: [], text: '', textSource: 'plain', html: '<p>', htmlSize: 3, truncated: [], headers: [], parts: { partId: '1', type: 'text/plain' }, attachments: [], codes: [], links: [], defects: [], url: '',
  ...more,
})

/** A server that answers when it is told to. */
function served(more: Record<string, object> = {}) {
  const waiting = new Map<string, () => void>()
  const opened: Target[] = []
  const fetch = async (request: Request | string | URL) => {
    const id = new URL((request as Request).url).pathname.split('/').at(-1) ?? ''
    await new Promise<void>((done) => waiting.set(id, done))
    if (id === 'gone') return Response.json({ type: 'urn:postkeep:problem:message-unknown' }, { status: 404 })
    return Response.json(message(id, more[id]))
  }
  const reading = new Reading(connect(new URL('http://postkeep.test/pk/'), fetch as typeof globalThis.fetch), '/pk/', (target) => opened.push(target))
  const answer = async (id: string) => {
    await expect.poll(() => waiting.has(id)).toBe(true)
    waiting.get(id)?.()
    await expect.poll(() => reading.status).not.toBe('reading')
  }
  return { reading, opened, answer, release: (id: string) => waiting.get(id)?.(), waiting }
}
const at = (id: string) => ({ mailbox: 'ben', id })

it('reads what is asked for and tells that it was opened', async () => {
  const { reading, opened, answer } = served()
  expect(reading.status).toBe('none')
  reading.show(at('a'))
  expect(reading.status).toBe('reading')
  await answer('a')
  expect(reading.message?.id).toBe('a')
  expect(opened).toEqual([at('a')])
})

it('shows the last one asked for, whatever is answered first', async () => {
  const { reading, opened, answer, release, waiting } = served()
  reading.show(at('slow'))
  await expect.poll(() => waiting.has('slow')).toBe(true)
  reading.show(at('quick'))
  await answer('quick')
  release('slow')
  await new Promise((done) => setTimeout(done))
  expect(reading.message?.id).toBe('quick')
  expect(opened).toEqual([at('quick')])
})

it('offers nothing of the last message while the next is read', async () => {
  const code = { value: '481920', raw: '481920', confidence: 0.9, where: 'text', partId: null, snippet: '', signals: [] }
  const { reading, answer } = served({ a: { codes: [code] } })
  reading.show(at('a'))
  await answer('a')
  expect(reading.code?.value).toBe('481920')
  reading.show(at('b'))
  expect([reading.code, reading.message]).toEqual([null, null])
})

it('says when it is gone, and shows the next again', async () => {
  const { reading, answer } = served()
  reading.show(at('gone'))
  await answer('gone')
  expect(reading.problem?.status).toBe(404)
  reading.show(at('a'))
  expect(reading.status).toBe('reading')
  await answer('a')
  expect(reading.problem).toBeNull()
})

it('shows HTML first when it is there and not too large', async () => {
  const { reading, answer } = served({ large: { htmlSize: 2 ** 20 + 1 }, plain: { html: null, htmlSize: null } })
  for (const [id, first] of [['a', 'html'], ['large', 'text'], ['plain', 'text']] as const) {
    reading.show(at(id))
    await answer(id)
    expect(reading.tab(route('ben', id)), id).toBe(first)
    expect(reading.tab(route('ben', id, undefined, 'source'))).toBe('source')
  }
  expect(reading.tab(route('ben', 'plain', undefined, 'html'))).toBe('text')
})

it('loads remote content of one message, once', async () => {
  const { reading, answer } = served()
  reading.show(at('a'))
  await answer('a')
  reading.loadRemote()
  expect(reading.remoteOnce).toBe(true)
  for (const id of ['b', 'a']) {
    reading.show(at(id))
    await answer(id)
    expect(reading.remoteOnce).toBe(false)
  }
})

it('names what belongs to the message by its place', async () => {
  const { reading, answer } = served()
  reading.show({ mailbox: 'a/b c', id: 'x' })
  await answer('x')
  expect(reading.htmlUrl(true)).toBe('/pk/api/v2/mailboxes/ben/messages/x/html?remote=true#mail')
  expect(reading.partUrl('1.2', true)).toBe('/pk/api/v2/mailboxes/ben/messages/x/parts/1.2?view=true')
})

it('opens only what leads to a web page or a mail', () => {
  expect(['https://a', 'HTTP://a', 'mailto:a@x'].every(opens)).toBe(true)
  expect(['javascript:alert(1)', ' https://a', 'data:text/html,x', 'ftp://a', '//a', ''].some(opens)).toBe(false)
})
