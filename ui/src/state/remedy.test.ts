// Each refusal that a person can meet, and what is offered.
import { expect, it } from 'vitest'
import { Problem } from '../api/client'
import { remedy } from './remedy'

const refused = (status: number, slug: string, more = {}, retryAfter: number | null = null) =>
  remedy(new Problem(status, { type: `urn:postkeep:problem:${slug}`, detail: 'Do this.', ...more }, retryAfter))

it('knows what to do next', () => {
  expect(refused(0, 'network')).toEqual({ kind: 'network' })
  expect(refused(401, 'unauthorized')).toEqual({ kind: 'signIn' })
  expect(refused(403, 'inbox-secret-required')).toEqual({ kind: 'secret' })
  expect(refused(403, 'forbidden')).toEqual({ kind: 'told', nearest: [] })
  expect(refused(404, 'message-unknown')).toEqual({ kind: 'gone' })
  expect(refused(404, 'part-unknown')).toEqual({ kind: 'told', nearest: [] })
  expect(refused(410, 'inbox-expired')).toEqual({ kind: 'expired' })
  expect(refused(507, 'store-full')).toEqual({ kind: 'full' })
})

it('counts down as the server says, else for a while', () => {
  expect(refused(429, 'rate-limited', {}, 12)).toEqual({ kind: 'wait', seconds: 12 })
  expect(refused(503, 'overloaded')).toEqual({ kind: 'wait', seconds: 5 })
  expect(refused(503, 'overloaded', {}, 0)).toEqual({ kind: 'wait', seconds: 1 })
})

it('passes on what was perhaps meant', () => {
  expect(refused(400, 'bad-query', { errors: [{ nearest: 'subject' }, { nearest: null }, {}] })).toEqual({ kind: 'told', nearest: ['subject'] })
})
