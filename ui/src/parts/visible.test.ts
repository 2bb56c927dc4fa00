// Letters that hide or turn others are seen; letters that people write stay (T052).
import { expect, it } from 'vitest'
import { host, visible } from './visible'

it('shows what would turn the direction', () => {
  expect(visible('invoice\u202Egpj.exe')).toBe('invoice▯gpj.exe')
  expect(visible('\u2066a\u2069\u200f\u061c')).toBe('▯a▯▯▯')
})

it('leaves what scripts and emoji need', () => {
  for (const text of ['👩‍👩‍👧 family', 'مركز الدعم', 'کتاب‌ها', '日本語', 'naïve\n\ttext']) expect(visible(text)).toBe(text)
})

it('names hosts in ASCII', () => {
  expect(host('https://shоp.test/a')).toMatch(/^xn--/)
  expect(host('not a url')).toBe('')
})
