// What the stream tells the list besides arrivals: gaps, floods, deletions, limits, and nothing at all.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ALL, mailbox } from '../router'
import { idOf, summary } from './testing'
import { start } from './testing.list'

const BEN = mailbox('ben')
const settle = () => vi.advanceTimersByTimeAsync(20)

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 1) }))
afterEach(() => void vi.useRealTimers())

describe('what the stream says besides', () => {
  it('resync lists anew, and what was read of lines stays', async () => {
    const { list, live, mails } = start(3)
    list.show(BEN, '')
    await settle()
    list.look(0, 2)
    await vi.advanceTimersByTimeAsync(200)
    expect(list.rows.map((row) => row.preview)).toEqual(['Text of Mail 3', 'Text of Mail 2', 'Text of Mail 1'])
    mails.splice(1, 1)
    mails.push(summary(9))
    live.say('resync', { reason: 'lagged', cursor: 'c' }, 'c')
    await settle()
    expect(list.rows.map((row) => [row.id, row.preview])).toEqual([[idOf(9), null], [idOf(3), 'Text of Mail 3'], [idOf(1), 'Text of Mail 1']])
  })

  it('resync reaches as far down as somebody has looked', async () => {
    const { list, live } = start(1300)
    list.show(BEN, '')
    await settle()
    await list.loadAll()
    list.look(1000, 1010)
    live.say('resync', { reason: 'lagged', cursor: 'c' }, 'c')
    await settle()
    expect(list.rows.length).toBeGreaterThan(1010)
  })

  it('skipped lists anew once it calms', async () => {
    const { list, live, asked } = start(3)
    list.show(BEN, '')
    await settle()
    for (let second = 0; second < 5; second += 1) {
      live.say('skipped', { count: 100 })
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2100)
    expect(asked).toHaveLength(2)
  })

  it('delete and purge take lines away; what came behind a purge stays', async () => {
    const { list, live, subjects } = start(4)
    list.show(BEN, '')
    await settle()
    live.say('delete', { mailbox: 'ben', id: idOf(4) }, 'c')
    live.say('purge', { mailbox: 'ben', upTo: idOf(2) }, 'c')
    await settle()
    expect([subjects(), list.total]).toEqual([['Mail 3'], 1])
  })

  it('hello tells what leaves by itself, on the minute', async () => {
    const { list, live, subjects } = start(5)
    list.show(BEN, '')
    await settle()
    live.say('hello', { cursor: 'c', retention: null, messagesMax: 2 })
    list.expire(Date.UTC(2026, 0, 1, 0, 10, 4))
    expect([subjects(), list.total]).toEqual([['Mail 5', 'Mail 4'], 2])
    live.say('hello', { cursor: 'c', retention: '10m', messagesMax: null })
    list.expire(Date.UTC(2026, 0, 1, 0, 10, 4, 500))
    expect(subjects()).toEqual(['Mail 5'])
  })

  it('nothing, because it is refused: then the list asks', async () => {
    const { list, mails, asked } = start(1)
    list.show(BEN, '')
    await settle()
    list.streamed({ kind: 'refused', status: 501, body: null })
    mails.push(summary(2))
    await vi.advanceTimersByTimeAsync(5_100)
    expect(list.rows).toHaveLength(2)
    list.streamed({ kind: 'live' })
    const count = asked.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(count)
  })

  it('of another list is not for this one', async () => {
    const { list, live } = start(1)
    list.show(BEN, '')
    await settle()
    live.scope = ALL
    live.deliver(summary(7))
    await settle()
    expect(list.rows).toHaveLength(1)
  })
})

