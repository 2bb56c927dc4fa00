// Searches cut into terms, and mistakes found where the server says they are.
import { describe, expect, it } from 'vitest'
import { isFinished, mark, terms } from './terms'

const words = { keys: ['from', 'subject', 'has', 'larger', 'after'], has: ['attachment', 'code', 'link', 'link:reset'] }

it('cuts keys, phrases, words and turned ones', () => {
  const text = 'from:@shop.test subject:"reset link" -welcome "a \\" b" https://x.test/a'
  expect(terms(text).map(({ key, value }) => [key, value])).toEqual([
    ['from', '@shop.test'], ['subject', 'reset link'], [null, 'welcome'], [null, 'a \\" b'], [null, 'https://x.test/a'],
  ])
  expect(terms(text).map(({ start, end }) => text.slice(start, end)).join(' ')).toBe(text)
})

it.each([
  ['', true], ['reset', true], ['from:a "b c"', true], ['from:', false], ['a subject:"b', false], ['-', false], ['has:link:reset', true],
])('%s finished: %s', (text, finished) => expect(isFinished(text)).toBe(finished))

describe('a mistake', () => {
  const at = (text: string, detail: string, nearest: string | null) => {
    const found = mark(text, words, detail, nearest)
    return found && [text.slice(found.start, found.end), found.mended]
  }
  it('in a key', () => expect(at('reset -fron:ben', 'The key "fron" is not known', 'from')).toEqual(['fron', 'reset -from:ben']))
  it('in what is had', () => expect(at('has:cod a', 'Has:cod is not known', 'code')).toEqual(['cod', 'has:code a']))
  it('in a size', () => expect(at('larger:1MB larger:X', '"x" is not a size', null)).toEqual(['X', null]))
  it('behind a key', () => expect(at('a from:', 'There is nothing behind "from:"', null)).toEqual(['from:', null]))
  it('in a quote', () => expect(at('a "b c', 'A quote is opened', null)).toEqual(['"b c', null]))
  it('elsewhere is not guessed', () => expect(at('a b', 'The query has more than 32 terms', null)).toBeNull())
})
