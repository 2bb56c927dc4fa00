// Faults in force, and a message on its way out.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Plan, Release } from '../api/client'
import { Clock } from './clock.svelte'
import { Faults } from './faults.svelte'
import { recipientsIn, Releasing } from './release.svelte'
import { fakeCalls } from './testing'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }))
afterEach(() => void vi.useRealTimers())

describe('faults', () => {
  const plan = (id: string, seconds: number) => ({ id, stage: 'rcpt', createdAt: '', expiresAt: new Date(Date.now() + seconds * 1000).toISOString(), attempts: 0, fired: 0 }) as Plan

  it('are over when their time is, and are read again while somebody looks', async () => {
    let items = [plan('a', 2), plan('b', 60)]
    const { calls, asked } = fakeCalls(() => ({ items }))
    const faults = new Faults(calls, new Clock())
    expect(faults.status).toBe('reading')
    const stop = faults.watch()
    await vi.advanceTimersByTimeAsync(10)
    expect([faults.status, faults.inForce.map(({ id }) => id)]).toEqual(['ready', ['a', 'b']])
    await vi.advanceTimersByTimeAsync(3000)
    expect(faults.inForce.map(({ id }) => id)).toEqual(['b'])
    items = []
    await vi.advanceTimersByTimeAsync(3000)
    expect(faults.inForce).toEqual([])
    stop()
    const before = asked.length
    await vi.advanceTimersByTimeAsync(20_000)
    expect(asked.length).toBe(before)
  })

  it('are removed, also when they were gone already, and say why not', async () => {
    let status: number | undefined
    const changed = vi.fn()
    const { calls } = fakeCalls(({ method }) => (method === 'DELETE' ? status : { items: [plan('a', 60), plan('b', 60), plan('c', 60)] }))
    const faults = new Faults(calls, new Clock(), changed)
    await faults.read()
    expect(await faults.remove('a')).toBeNull()
    status = 404
    expect(await faults.remove('b')).toBeNull()
    status = 403
    expect((await faults.remove('c'))?.status).toBe(403)
    expect(faults.plans.map(({ id }) => id)).toEqual(['c'])
    expect(changed).toHaveBeenCalledTimes(2)
  })
})

describe('a release', () => {
  const release = (id: string, state: string, messageId = 'm1') => ({ id, mailbox: 'ben', messageId, subject: '', from: '', createdAt: '', state, recipients: [] }) as unknown as Release

  it('is followed until it is known how it went; those of other messages are not shown', async () => {
    let state = 'sending'
    const { calls, asked } = fakeCalls(({ method, path }) => {
      if (method === 'POST') return release('r2', 'queued')
      return path.endsWith('{id}') ? release('r2', state) : { items: [release('r1', 'done'), release('r0', 'failed', 'm0')] }
    })
    const releasing = new Releasing(calls, { mailbox: 'ben', id: 'm1' })
    const stop = releasing.watch()
    await vi.advanceTimersByTimeAsync(10)
    expect(await releasing.send(['a@x.test'], null)).toBe(true)
    expect(asked.at(-1)).toMatchObject({ method: 'POST', body: { to: ['a@x.test'], from: null } })
    await vi.advanceTimersByTimeAsync(1000)
    expect(releasing.made.map(({ id, state }) => [id, state])).toEqual([['r2', 'sending'], ['r1', 'done']])
    state = 'done'
    await vi.advanceTimersByTimeAsync(1000)
    expect(releasing.made[0]?.state).toBe('done')
    const before = asked.length
    await vi.advanceTimersByTimeAsync(5000)
    expect(asked.length).toBe(before)
    stop()
  })

  it('says why it was not taken', async () => {
    const { calls } = fakeCalls(() => 409)
    const releasing = new Releasing(calls, { mailbox: 'ben', id: 'm1' })
    expect(await releasing.send(['a@x.test'], null)).toBe(false)
    expect([releasing.problem?.status, releasing.busy, releasing.made]).toEqual([409, false, []])
  })

  it('takes addresses as people write them', () => {
    expect(recipientsIn(' a@x.test, <b@y.test>;\nc@z.test a@x.test ')).toEqual({ to: ['a@x.test', 'b@y.test', 'c@z.test'], odd: [] })
    expect(recipientsIn('ben, @x.test, grüße@bücher.test')).toEqual({ to: ['grüße@bücher.test'], odd: ['ben', '@x.test'] })
    expect(recipientsIn('')).toEqual({ to: [], odd: [] })
  })
})
