// Addresses and doors as a stranger is told them.
import { expect, it } from 'vitest'
import { addressOf, doorOf, nameOf, unguessable, written } from './way'

it('writes the address of a mailbox', () => {
  expect(addressOf('ben', { naming: 'local', domain: null })).toBe('ben@example.com')
  expect(addressOf('ben', { naming: 'local', domain: 'mail.example' })).toBe('ben@mail.example')
  expect(addressOf('ben@a.test', { naming: 'full', domain: null })).toBe('ben@a.test')
  expect(addressOf('a.test', { naming: 'domain', domain: null })).toBe('me@a.test')
})

it('takes a whole address of this server for its mailbox', () => {
  expect(nameOf(' ben@Mail.example ', { naming: 'local', domain: 'mail.example' })).toBe('ben')
  expect(nameOf('ben@else.test', { naming: 'local', domain: 'mail.example' })).toBe('ben@else.test')
  expect(nameOf('ben@mail.example', { naming: 'full', domain: 'mail.example' })).toBe('ben@mail.example')
})

it('shows the door that any program can use, under the name that the page is reached by', () => {
  const door = { host: '*', port: 1025, tls: 'none', auth: 'any' } as const
  expect(doorOf([{ ...door, port: 465, tls: 'implicit' }, door], 'mail.test')).toEqual({ ...door, host: 'mail.test' })
  expect(doorOf([{ ...door, host: '127.0.0.1' }], 'mail.test')?.host).toBe('127.0.0.1')
  expect(doorOf([door], '[::1]')?.host).toBe('::1')
  expect(doorOf([], 'x')).toBeNull()
  expect(written({ host: '::1', port: 25 })).toBe('[::1]:25')
})

it('gives names of 65 bits', () => {
  const name = unguessable((bytes) => bytes.fill(255))
  expect(name).toBe('zzzz-zzzz-zzzzz')
  const names = new Set(Array.from({ length: 100 }, () => unguessable((bytes) => crypto.getRandomValues(bytes))))
  expect(names.size).toBe(100)
  for (const one of names) expect(one.replaceAll('-', '')).toMatch(/^[0-9a-hjkmnp-tv-z]{13}$/)
})
