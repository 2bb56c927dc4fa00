// Addresses in text: found as people write them, never more than http(s), nothing lost, and in linear time (T051).
import { expect, it } from 'vitest'
import { linkify } from './linkify'

const links = (text: string) => linkify(text).flatMap((piece) => piece.href ?? [])
const whole = (text: string) => linkify(text).map((piece) => piece.text).join('')

it('finds addresses as people write them', () => {
  expect(links('See https://a.test/x?y=1&z=2#f.')).toEqual(['https://a.test/x?y=1&z=2#f'])
  expect(links('(see http://a.test/b_(c)) and [https://b.test], HTTPS://C.test!')).toEqual(['http://a.test/b_(c)', 'https://b.test', 'HTTPS://C.test'])
  expect(links('<https://a.test/x> "https://b.test/y" ‘no’')).toEqual(['https://a.test/x', 'https://b.test/y'])
  expect(links('詳細は https://例え.test/道。 以上')).toEqual(['https://例え.test/道'])
})

it('t051_no_text_becomes_anything_but_a_web_address', () => {
  const hostile = [
    'javascript:alert(1)', 'data:text/html,<script>', 'vbscript:x', 'xhttps://a.test', 'https:alert(1)', 'https://', 'http://[', 'jav\tascript:alert(1)',
    'https://good.test@evil.test/', 'https://user:pass@evil.test/', 'file:///etc/passwd', '//evil.test',
  ]
  for (const text of hostile) expect(links(text), text).toEqual([])
  for (const text of ['https://a.test/"onmouseover="alert(1)', "https://a.test/'onclick='alert(1)", 'https://a.test/<script>alert(1)</script>', 'https://a.test/`x`']) {
    expect(links(text), text).toEqual(['https://a.test/'])
  }
  expect(links('https://a.test/\u202egpj.exe')).toEqual(['https://a.test/'])
})

it('loses no letter', () => {
  for (const text of ['', 'plain', 'https://a.test', 'a https://b.test/) c\r\n\n https://c.test...', '))))https://)))))', 'é\u0000\u202e https://x.test 😀']) {
    expect(whole(text)).toBe(text)
  }
})

it('t051_takes_linear_time_for_hostile_text', () => {
  const hostile: ((size: number) => string)[] = [
    (size) => 'http://'.repeat(size), (size) => `https://a.test/${')'.repeat(size)}`, (size) => `https://a.test/${'('.repeat(size)}${')'.repeat(size)}`,
    (size) => 'https://a.test '.repeat(size), (size) => 'h'.repeat(size), (size) => `https://${'a.'.repeat(size)}`,
  ]
  /** The quickest of a few: what else the machine does is not measured. */
  const took = (text: string) =>
    Math.min(...Array.from({ length: 3 }, () => {
      const began = performance.now()
      expect(linkify(text).reduce((sum, piece) => sum + piece.text.length, 0)).toBe(text.length)
      return performance.now() - began
    }))
  for (const make of hostile) {
    const [short, long] = [took(make(10_000)), took(make(160_000))]
    // Sixteen times as much; squared it would be 256 times.
    expect(long, make(3)).toBeLessThan(80 * Math.max(short, 0.5))
  }
}, 60_000)

it('makes no more links than anybody follows', () => {
  expect(links('https://a.test '.repeat(10_000)).length).toBe(2000)
})
