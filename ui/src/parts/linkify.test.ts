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

it('t051_takes_no_longer_for_hostile_text', () => {
  const began = performance.now()
  for (const text of ['http://'.repeat(100_000), `https://a.test/${')'.repeat(1_000_000)}`, `https://a.test/${'('.repeat(500_000)}${')'.repeat(500_000)}`, 'https://a.test '.repeat(60_000), 'h'.repeat(1_000_000)]) {
    expect(whole(text).length).toBe(text.length)
  }
  expect(performance.now() - began).toBeLessThan(2000)
  expect(links('https://a.test '.repeat(60_000)).length).toBe(2000)
})
