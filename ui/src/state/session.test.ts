// Signing in leads back, and only to places of the page; a key in a link is taken out of it.
import { describe, expect, it } from 'vitest'
import { Problem } from '../api/client'
import { Navigation } from './navigation.svelte'
import type { ServerState } from './server.svelte'
import { keyIn, Session } from './session.svelte'

function at(address: string, login: () => Promise<void> = () => Promise.resolve()) {
  const moves: string[] = []
  const nav = new Navigation({ href: () => address, push: () => moves.push('push'), replace: (url) => moves.push(url) }, '/pk/')
  return { moves, nav, session: new Session(nav, { login } as unknown as ServerState) }
}

it('a stranger is led to sign in, and back', async () => {
  const { moves, session } = at('http://pk.test/pk/m/ben?q=a+b')
  session.missing()
  session.missing()
  await session.enter(' pkt_x ')
  expect(moves).toEqual(['/pk/login?next=%2Fm%2Fben%3Fq%3Da%2Bb', '/pk/m/ben?q=a+b'])
})

it('a key that is refused stays at the door and says why', async () => {
  const { moves, session } = at('http://pk.test/pk/m/ben', () => Promise.reject(new Problem(401, {})))
  await session.enter('pki_x')
  expect(moves).toEqual(['/pk/login?next=%2Fm%2Fben'])
  expect(session.problem?.status).toBe(401)
})

describe('next is a place of this page, whatever it says', () => {
  it.each([
    ['/m/ben', '/pk/m/ben'], ['//evil.test/', '/pk/'], ['https://evil.test', '/pk/'], ['javascript:alert(1)', '/pk/'], ['/../../x', '/pk/'], ['/login', '/pk/'],
  ])('%s', async (next, to) => {
    const { moves, session } = at(`http://pk.test/pk/login?next=${encodeURIComponent(next)}`)
    await session.enter('pkt_x')
    expect(moves).toEqual([to])
  })
})

it('a key vanishes from the address', () => {
  expect(keyIn('http://pk.test/m/ben?q=a#key=pki_1')).toEqual({ key: 'pki_1', address: 'http://pk.test/m/ben?q=a' })
  expect(keyIn('http://pk.test/m/ben#top')).toBeNull()
})
