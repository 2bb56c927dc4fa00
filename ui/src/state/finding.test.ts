// The field's search while typing: after a rest, once, and as one step of the history.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Finding } from './finding.svelte'
import { Navigation } from './navigation.svelte'
import type { ServerState } from './server.svelte'

let moves: string[]
let nav: Navigation
let finding: Finding
const server = { about: { search: { keys: ['from', 'has'], has: ['code'] } }, seesAll: true } as unknown as ServerState

beforeEach(() => {
  vi.useFakeTimers()
  moves = []
  const place = { href: () => 'http://pk.test/m/ben', push: (url: string) => moves.push(`push ${url}`), replace: (url: string) => moves.push(`step ${url}`) }
  nav = new Navigation(place, '/')
  finding = new Finding(nav, server, () => ['ben', 'benno'])
})
afterEach(() => vi.useRealTimers())
const type = (text: string, rest: number) => {
  finding.typed(text)
  vi.advanceTimersByTime(rest)
}

it('waits until typing rests, then runs once', () => {
  type('from:a', 200)
  type('from:ab', 249)
  expect(moves).toEqual([])
  vi.advanceTimersByTime(1)
  expect(moves).toEqual(['push /m/ben?q=from%3Aab'])
})

it('is one step of the history while typing goes on', () => {
  type('from:a', 300)
  type('from:a has:code', 300)
  type('', 300)
  expect(moves).toEqual(['push /m/ben?q=from%3Aa', 'step /m/ben?q=from%3Aa+has%3Acode', 'step /m/ben'])
})

it('does not ask for half a term, nor for a name that may be opened', () => {
  type('from:', 300)
  type('from:a "b', 300)
  type('benno', 300)
  expect(moves).toEqual([])
  expect(finding.offers[0]).toEqual({ kind: 'open', mailbox: 'benno' })
})

it('goes where it is told, and a choice ends what was about to run', () => {
  finding.typed('benno x')
  expect(finding.choose({ kind: 'open', mailbox: 'anna' })).toBe(true)
  vi.advanceTimersByTime(1000)
  expect(moves).toEqual(['push /m/anna'])
  expect(finding.text).toBe('')
})

it('puts a word in and goes on', () => {
  finding.typed('ha')
  expect(finding.choose({ kind: 'word', word: 'has:', text: 'has:' })).toBe(false)
  expect(finding.text).toBe('has:')
})
