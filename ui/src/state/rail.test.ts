// Rail and monitor: what is counted, what is remembered, what is hidden without being deleted.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ALL } from '../router'
import { Mailboxes } from './mailboxes.svelte'
import { Monitor } from './monitor.svelte'
import { Seen } from './seen.svelte'
import { fakeCalls, FakeLive, Memory, summary, type Asked } from './testing'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const item = (mailbox: string, messages: number, newestAt: string) => ({ mailbox, messages, newestAt, cursor: 'c' })

describe('the rail', () => {
  function start(answering: (asked: Asked) => unknown) {
    const shelf = new Memory()
    const { calls, asked } = fakeCalls(answering)
    return { mailboxes: new Mailboxes(calls, shelf, new Seen(shelf)), asked, shelf }
  }

  it('asks for the mailboxes with the newest mail, and sorts where the server cannot', async () => {
    const { mailboxes, asked } = start(({ query }) => (query.order ? 501 : { items: [item('anna', 1, '2026-01-01'), item('ben', 2, '2026-01-02')], next: null }))
    await mailboxes.load(null)
    await mailboxes.load(null)
    expect(mailboxes.items.map((one) => one.name)).toEqual(['ben', 'anna'])
    expect(asked.map((one) => one.query.order ?? 'name')).toEqual(['newest', 'name', 'name'])
  })

  it('counts what the stream tells, and moves its mailbox up', async () => {
    const { mailboxes } = start(() => ({ items: [item('anna', 1, 'b'), item('ben', 2, 'a')], next: null }))
    await mailboxes.load(null)
    mailboxes.arrived([summary(1), summary(2), summary(3, { mailbox: 'new' })])
    expect(mailboxes.items.map(({ name, messages }) => [name, messages])).toEqual([['new', 1], ['ben', 4], ['anna', 1]])
  })

  it('guesses what came to a mailbox that nobody follows, until somebody looks', async () => {
    let items = [item('anna', 4, 'a'), item('ben', 2, 'a')]
    const { mailboxes } = start(() => ({ items, next: null }))
    await mailboxes.load('ben')
    expect(mailboxes.fresh('anna')).toBe(0)
    items = [item('anna', 7, 'b'), item('ben', 3, 'b')]
    await mailboxes.load('ben')
    expect([mailboxes.fresh('anna'), mailboxes.fresh('ben')]).toEqual([3, 0])
    expect(mailboxes.shown('anna')).toBe(3)
    expect(mailboxes.fresh('anna')).toBe(0)
  })

  it('remembers names in this browser where mailboxes are not listed, and forgets them', () => {
    const { mailboxes, shelf } = start(() => 403)
    for (const name of ['ben', 'anna', 'ben']) mailboxes.remember(name)
    expect(mailboxes.recentNames).toEqual(['ben', 'anna'])
    expect(new Mailboxes(fakeCalls(() => 403).calls, shelf, new Seen(shelf)).recentNames).toEqual(['ben', 'anna'])
    mailboxes.forget()
    expect([mailboxes.recentNames, shelf.kept]).toEqual([[], {}])
  })
})

describe('the monitor', () => {
  function start(status = 200) {
    const { calls } = fakeCalls(() => (status === 200 ? { items: [summary(2), summary(1)], cursor: 'c2' } : status))
    const live = new FakeLive()
    return { monitor: new Monitor(calls, live.live), live }
  }
  const refusal = { at: '2026-01-01T00:00:00Z', stage: 'RCPT', mailFrom: null, rcptTo: ['x@y.test'], helo: null, peer: null, reply: '550 5.1.1 No' }
  const settle = () => vi.advanceTimersByTimeAsync(20)

  it('begins with what came before, then tells of arrivals and refusals, one line a transaction', async () => {
    const { monitor, live } = start()
    await monitor.open()
    expect(live.followed).toEqual([{ scope: ALL, since: 'c2', refusals: true }])
    live.deliver(summary(3, { transaction: 'same' }))
    live.deliver(summary(4, { transaction: 'same', mailbox: 'anna', envelope: { mailFrom: 'a@x.test', rcptTo: ['anna@y.test'] } }))
    live.say('refuse', refusal)
    await settle()
    expect(monitor.lines.map((line) => [line.kind, line.reply, line.rcptTo.length])).toEqual([
      ['refuse', '550 5.1.1 No', 1], ['deliver', '250', 2], ['deliver', '250', 1], ['deliver', '250', 1],
    ])
  })

  it('tells what a fault on demand refused, and what it did besides', async () => {
    const { monitor, live } = start()
    await monitor.open()
    live.say('refuse', { ...refusal, fault: 'p1' })
    live.say('fault', { at: refusal.at, stage: 'DATA', mailFrom: null, rcptTo: ['x@y.test'], fault: 'slow@fault.test', what: 'read slowly' })
    await settle()
    expect(monitor.lines.slice(0, 3).map((line) => [line.kind, line.reply, line.fault])).toEqual([['fault', 'read slowly', 'slow@fault.test'], ['refuse', '550 5.1.1 No', 'p1'], ['deliver', '250', null]])
  })

  it('stands still while paused, and catches up', async () => {
    const { monitor, live } = start()
    await monitor.open()
    monitor.pause(true)
    live.deliver(summary(3))
    await settle()
    expect([monitor.lines.length, monitor.waiting]).toEqual([2, 1])
    monitor.pause(false)
    expect([monitor.lines.length, monitor.waiting]).toEqual([3, 0])
  })

  it('hides older lines without losing them', async () => {
    const { monitor, live } = start()
    await monitor.open()
    monitor.hideOlder()
    live.deliver(summary(3))
    await settle()
    expect([monitor.lines.map((line) => line.subject), monitor.hidden]).toEqual([['Mail 3'], 2])
    monitor.showOlder()
    expect(monitor.lines).toHaveLength(3)
  })

  it('keeps a few hundred lines', async () => {
    const { monitor, live } = start()
    await monitor.open()
    monitor.hideOlder()
    for (let number = 10; number < 800; number += 1) live.deliver(summary(number))
    await vi.advanceTimersByTimeAsync(300)
    expect([monitor.lines.length, monitor.hidden]).toEqual([500, 0])
  })

  it('goes without refusals where they are not told, and listens to nothing once it is left', async () => {
    const { monitor, live } = start()
    await monitor.open()
    monitor.streamed({ kind: 'refused', status: 403, body: null })
    expect([live.followed.at(-1)?.refusals, monitor.refusals]).toEqual([false, false])
    monitor.close()
    live.deliver(summary(9))
    await settle()
    expect(monitor.lines).toHaveLength(2)
  })

  it('says what it may not list', async () => {
    const { monitor } = start(403)
    await monitor.open()
    expect(monitor.problem?.status).toBe(403)
  })
})
