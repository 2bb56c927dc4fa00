// What the field offers, in the order in which it offers it.
import { expect, it } from 'vitest'
import { ALL, mailbox } from '../router'
import { suggestions, type Known } from './suggestions'

const known: Known = {
  words: { keys: ['from', 'subject', 'has', 'header'], has: ['attachment', 'code', 'link', 'link:reset'] },
  mailboxes: ['ben', 'benjamin', 'anna'], scope: ALL, seesAll: true,
}
const told = (text: string, more: Partial<Known> = {}) =>
  suggestions(text, { ...known, ...more }).map((one) =>
    one.kind === 'open' ? `open ${one.mailbox}` : one.kind === 'word' ? `put ${one.text}` : `search ${one.scope.kind === 'all' ? 'all' : one.scope.name} for ${one.q}`)

it('opens a name first and searches second', () => expect(told('ben')).toEqual(['open ben', 'search all for ben', 'open benjamin']))
it('turns that round at a blank', () => expect(told('reset link')).toEqual(['search all for reset link', 'open reset link']))
it('opens nothing called like a search', () => expect(told('from:ben')).toEqual(['search all for from:ben']))
it('takes an unknown key for a word with a colon', () => expect(told('re:x')).toEqual(['search all for re:x', 'open re:x']))
it('searches the mailbox on the screen, then all', () =>
  expect(told('a b', { scope: mailbox('ben') })).toEqual(['search ben for a b', 'search all for a b', 'open a b']))
it('searches only the mailbox where all is not shown', () =>
  expect(told('anna', { scope: mailbox('ben'), seesAll: false })).toEqual(['open anna', 'search ben for anna']))
it('searches nothing at the public entry', () => expect(told('anna x', { seesAll: false })).toEqual(['open anna x']))
it('completes keys', () => expect(told('reset h')).toEqual(['search all for reset h', 'put reset has:', 'put reset header:', 'open reset h']))
it('completes what is had', () =>
  expect(told('reset -has:link')).toEqual(['search all for reset -has:link', 'put reset -has:link:reset']))
it('completes half a term first', () => expect(told('has:')[0]).toBe('put has:attachment'))
it('completes nothing behind a blank', () => expect(told('reset h ')).toEqual(['search all for reset h', 'open reset h']))
it('offers nothing for nothing', () => expect(told('  ')).toEqual([]))
