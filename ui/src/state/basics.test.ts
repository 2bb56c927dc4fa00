// Preferences that are not to be trusted, notices that end, and navigation without a window.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ALL, listing, mailbox } from '../router'
import { Navigation } from './navigation.svelte'
import { Notices } from './notices.svelte'
import { Preferences, type Shelf } from './prefs.svelte'

class Memory implements Shelf {
  kept: Record<string, string> = {}
  getItem = (key: string) => this.kept[key] ?? null
  setItem = (key: string, value: string) => void (this.kept[key] = value)
  removeItem = (key: string) => void delete this.kept[key]
}

describe('preferences', () => {
  it('are kept', () => {
    const shelf = new Memory()
    new Preferences(shelf).set('theme', 'dark')
    expect(new Preferences(shelf).values.theme).toBe('dark')
  })

  it('fall back where what was kept is of another kind', () => {
    const shelf = new Memory()
    shelf.kept['postkeep.prefs'] = '{"list":"wide","keys":false,"unknown":1}'
    expect(new Preferences(shelf).values).toMatchObject({ list: 416, keys: false })
    expect(new Preferences(shelf).values).not.toHaveProperty('unknown')
    shelf.kept['postkeep.prefs'] = '{'
    expect(new Preferences(shelf).values.keys).toBe(true)
  })

  it('work without a shelf', () => {
    const shelf = { ...new Memory(), setItem: () => { throw new Error('full') } }
    const prefs = new Preferences(shelf)
    prefs.set('density', 'compact')
    expect(prefs.values.density).toBe('compact')
  })
})

describe('notices', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('end by themselves, but not while held', () => {
    const notices = new Notices()
    const ended = vi.fn()
    const id = notices.say('deleted', { left: 8000, ended })
    vi.advanceTimersByTime(5000)
    notices.hold(id, true)
    vi.advanceTimersByTime(60_000)
    expect(ended).not.toHaveBeenCalled()
    notices.hold(id, false)
    vi.advanceTimersByTime(3000)
    expect(ended).toHaveBeenCalledOnce()
    expect(notices.items).toEqual([])
  })

  it('that were acted on do not end', () => {
    const notices = new Notices()
    const ended = vi.fn()
    notices.close(notices.say('deleted', { ended }), 'acted')
    expect(ended).not.toHaveBeenCalled()
  })

  it('pushed out by others end at once: nothing waits for a notice nobody sees', () => {
    const notices = new Notices()
    const ended = vi.fn()
    notices.say('first', { ended })
    for (const text of ['second', 'third', 'fourth']) notices.say(text)
    expect(ended).toHaveBeenCalledOnce()
    expect(notices.items.map((one) => one.text)).toEqual(['second', 'third', 'fourth'])
  })

  it('speak at most once in five seconds, the last word', () => {
    vi.setSystemTime(1_000_000)
    const notices = new Notices()
    notices.speak('one')
    vi.advanceTimersByTime(0)
    expect(notices.spoken).toBe('one')
    notices.speak('two')
    notices.speak('three')
    vi.advanceTimersByTime(4000)
    expect(notices.spoken).toBe('one')
    vi.advanceTimersByTime(1000)
    expect(notices.spoken).toBe('three')
  })
})

it('a click is remembered by Back, a step is not', () => {
  const history = ['http://pk.test/mail/m/ben']
  const place = { href: () => history.at(-1) ?? '', push: (url: string) => void history.push(new URL(url, 'http://pk.test').href), replace: (url: string) => void (history[history.length - 1] = new URL(url, 'http://pk.test').href) }
  const nav = new Navigation(place, '/mail/')
  expect(nav.route).toEqual(listing(mailbox('ben')))
  nav.go(listing(mailbox('a/b')))
  nav.step(listing(ALL, 'x'))
  expect(history).toEqual(['http://pk.test/mail/m/ben', 'http://pk.test/mail/?q=x'])
  history.pop()
  nav.arrived()
  expect(nav.route).toEqual(listing(mailbox('ben')))
  expect(nav.lasting(listing(ALL))).toBe('http://pk.test/mail/')
})
