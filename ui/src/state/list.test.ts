// The list against a server in memory: what is listed, what comes, what goes, what is asked again, and how often it changes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ALL, mailbox } from '../router'
import { ROWS_MAX } from './listing'
import { idOf, summary } from './testing'
import { start } from './testing.list'

const BEN = mailbox('ben')
const settle = () => vi.advanceTimersByTimeAsync(20)

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 1) }))
afterEach(() => void vi.useRealTimers())

describe('listing', () => {
  it('asks once, and follows from its cursor', async () => {
    const { list, live, asked, subjects } = start(3)
    list.show(BEN, '')
    list.show(BEN, '')
    await settle()
    expect(subjects()).toEqual(['Mail 3', 'Mail 2', 'Mail 1'])
    expect([list.total, list.more, list.status]).toEqual([3, false, 'ready'])
    expect(live.followed).toEqual([{ scope: BEN, since: `c${idOf(3)}`, refusals: false }])
    expect(asked).toHaveLength(1)
  })

  it('goes on behind its last line, and no further than it keeps', async () => {
    const { list } = start(ROWS_MAX + 600)
    list.show(BEN, '')
    await settle()
    expect([list.rows.length, list.more]).toEqual([50, true])
    await list.loadMore()
    expect(list.rows.length).toBe(550)
    expect(new Set(list.rows.map((row) => row.key)).size).toBe(550)
    await list.loadAll()
    expect([list.rows.length, list.more, list.capped]).toEqual([ROWS_MAX, false, true])
  })

  it('of all mail has one line for each transaction', async () => {
    const { list, mails, live } = start(0)
    for (const [number, name] of [[1, 'anna'], [2, 'ben'], [3, 'carla']] as const) mails.push(summary(number, { mailbox: name, transaction: 'same' }))
    mails.push(summary(4))
    list.show(ALL, '')
    await settle()
    expect(list.rows.map((row) => row.copies.length)).toEqual([1, 3])
    live.deliver(summary(5, { mailbox: 'dora', transaction: 'same' }))
    await settle()
    expect(list.rows.map((row) => row.copies.length)).toEqual([1, 4])
    expect(list.find('dora', idOf(5))).toBe(list.rows[1])
    expect(list.total).toBe(5)
    live.say('delete', { mailbox: 'carla', id: idOf(3) }, 'c')
    await settle()
    expect(list.rows[1]?.copies.map((copy) => copy.mailbox)).toEqual(['ben', 'anna', 'dora'])
  })

  it('that is left and come back to is there at once, and asked for anew', async () => {
    const { list, deliver, mails } = start(2)
    list.show(BEN, '')
    await settle()
    list.show(ALL, '')
    await settle()
    mails.push(summary(3))
    list.show(BEN, '')
    expect(list.rows).toHaveLength(2)
    await settle()
    expect(list.rows).toHaveLength(3)
    deliver(4)
    await settle()
    expect(list.rows).toHaveLength(4)
  })

  it('that is refused says so, and asks again where that may help', async () => {
    let status = 403
    const { list, asked } = start(1, () => (status === 200 ? undefined : status))
    list.show(BEN, '')
    await settle()
    expect([list.problem?.status, list.status]).toEqual([403, 'ready'])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(1)
    status = 503
    await list.anew()
    status = 200
    await vi.advanceTimersByTimeAsync(5_000)
    expect([list.problem, list.rows.length]).toEqual([null, 1])
  })
})

describe('arrivals', () => {
  it('stand on top in the order of the server, each once', async () => {
    const { list, live, subjects, deliver } = start(1)
    list.show(BEN, '')
    await settle()
    deliver(2, 3)
    live.deliver(summary(3))
    await settle()
    expect(subjects()).toEqual(['Mail 3', 'Mail 2', 'Mail 1'])
    expect([list.total, list.cursor]).toEqual([3, `c${idOf(3)}`])
  })

  it('of a thousand in a second are a handful of changes', async () => {
    const { list, deliver } = start(1)
    list.show(BEN, '')
    await settle()
    let changes = 0
    const before = list.republish.bind(list)
    list.republish = () => (changes++, before())
    for (let at = 0; at < 1000; at += 1) {
      deliver(10 + at)
      await vi.advanceTimersByTimeAsync(1)
    }
    await vi.advanceTimersByTimeAsync(300)
    expect(list.rows).toHaveLength(1001)
    expect(changes).toBeLessThan(12)
  })

  it('are told, the first into an empty list as such', async () => {
    const { list, deliver } = start(0)
    const told: [number, boolean][] = []
    list.events = { ...list.events, arrived: (came, first) => void told.push([came.rows.length, first]) }
    list.show(BEN, '')
    await settle()
    deliver(1)
    await settle()
    deliver(2, 3)
    await settle()
    expect(told).toEqual([[1, true], [2, false]])
  })

  it('while a search is shown are searched by the server', async () => {
    const { list, asked, deliver } = start(2)
    list.show(BEN, 'Mail')
    await settle()
    deliver(3)
    await vi.advanceTimersByTimeAsync(500)
    expect(list.rows).toHaveLength(3)
    expect(asked.at(-1)?.query).toMatchObject({ q: 'Mail', since: `c${idOf(2)}` })
  })

  it('push out the oldest when there are too many', async () => {
    const { list, deliver } = start(0)
    list.show(BEN, '')
    await settle()
    deliver(...Array.from({ length: ROWS_MAX + 5 }, (_, at) => at + 1))
    await vi.advanceTimersByTimeAsync(300)
    expect([list.rows.length, list.capped, list.rows.at(-1)?.id]).toEqual([ROWS_MAX, true, idOf(6)])
  })
})

describe('lines in sight', () => {
  it('are read in one call once the eye rests', async () => {
    const { list, asked } = start(40)
    list.show(BEN, '')
    await settle()
    for (let at = 0; at < 10; at += 1) {
      list.look(at, at + 10)
      await vi.advanceTimersByTimeAsync(50)
    }
    expect(asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(asked).toHaveLength(2)
    expect(asked[1]?.query.ids).toHaveLength(11)
    expect(list.rows[9]?.preview).toBe('Text of Mail 31')
    expect(list.rows[8]?.preview).toBeNull()
  })

  it('do without where the server cannot', async () => {
    const { list, asked } = start(4, ({ query }) => (query.ids ? 400 : undefined))
    list.show(BEN, '')
    await settle()
    list.look(0, 3)
    await vi.advanceTimersByTimeAsync(500)
    list.look(0, 3)
    await vi.advanceTimersByTimeAsync(500)
    expect(asked.filter((one) => one.query.ids)).toHaveLength(1)
    expect(list.problem).toBeNull()
  })
})
