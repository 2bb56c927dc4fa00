// One stream a tab, and none for a tab nobody looks at when another needs it.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { mailbox } from '../router'
import { Live } from './live.svelte'

let asked: { url: string; since: string | null; ended: boolean }[]

beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const request = { url, since: new Headers(init.headers).get('last-event-id'), ended: false }
    asked.push(request)
    init.signal?.addEventListener('abort', () => (request.ended = true))
    return Promise.resolve(new Response(new ReadableStream()))
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const live = () => new Live(new URL('http://pk.test/mail/'))
const open = () => asked.filter((request) => !request.ended)

it('follows one scope at a time', () => {
  const one = live()
  one.follow(mailbox('ben'), 'A1')
  one.follow(mailbox('ben'), 'A2')
  expect(asked.map(({ url, since }) => [url, since])).toEqual([['http://pk.test/mail/api/v2/events?mailbox=ben', 'A1']])
  one.follow(mailbox('anna'), 'B1')
  expect(open().map(({ url }) => url)).toEqual(['http://pk.test/mail/api/v2/events?mailbox=anna'])
})

it('lets go half a minute after it was hidden, and goes on when shown', () => {
  const one = live()
  one.follow(mailbox('ben'), 'A1')
  one.hidden()
  vi.advanceTimersByTime(29_000)
  expect(open()).toHaveLength(1)
  vi.advanceTimersByTime(2_000)
  expect(open()).toHaveLength(0)
  one.shown()
  expect(open().map(({ since }) => since)).toEqual(['A1'])
})

it('a hidden tab makes room at once, and opens nothing until it is looked at', () => {
  const one = live()
  one.follow(mailbox('ben'), 'A1')
  one.hidden()
  one.letGo()
  one.follow(mailbox('anna'), 'B1')
  expect(open()).toHaveLength(0)
  one.shown()
  expect(open().map(({ url }) => url)).toEqual(['http://pk.test/mail/api/v2/events?mailbox=anna'])
})

it('keeps listening for notifications', () => {
  const one = live()
  one.keepListening = true
  one.follow(mailbox('ben'), null)
  one.hidden()
  one.letGo()
  vi.advanceTimersByTime(34_000)
  expect(open()).toHaveLength(1)
})
