// The kit's rule for codes and links: good enough, and ahead of the next.
import { expect, it } from 'vitest'
import { pickCode, pickLink, type Code, type Link } from './pick'

const code = (value: string, confidence: number): Code => ({ value, raw: value, confidence, where: 'text', snippet: '', signals: [], partId: null })
const link = (href: string, confidence: number, action = true): Link => ({ href, text: '', kind: 'other', action, confidence, where: 'html', signals: [], partId: null })

it('believes the best code when it is ahead', () => {
  expect(pickCode([code('1', 0.99), code('2', 0.8)])?.value).toBe('1')
  expect(pickCode([code('1', 0.9), code('1', 0.9), code('2', 0.4)])?.value).toBe('1')
})

it('does not choose among codes that are close, and believes no weak one', () => {
  expect(pickCode([code('1', 0.9), code('2', 0.8)])).toBeNull()
  expect(pickCode([code('1', 0.49)])).toBeNull()
  expect(pickCode([])).toBeNull()
})

it('takes the link that the mail is about', () => {
  expect(pickLink([link('https://a', 0.97), link('https://b', 0.99, false)])?.href).toBe('https://a')
  expect(pickLink([link('https://b', 0.99, false)])).toBeNull()
})
