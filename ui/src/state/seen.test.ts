// What was opened here: kept in this browser, bounded, and never mistaken for what others read.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { rowOf } from './row'
import { Seen } from './seen.svelte'
import { idOf, Memory, summary } from './testing'

const row = (number: number, mailbox = 'ben') => rowOf(summary(number, { mailbox }), true)
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('remembers what was opened, also after a reload', () => {
  const shelf = new Memory()
  const seen = new Seen(shelf)
  expect(seen.unread([row(1), row(2)])).toBe(2)
  seen.opened('ben', idOf(1))
  expect([seen.isSeen(row(1)), seen.isSeen(row(2)), seen.isSeen(row(1, 'anna'))]).toEqual([true, false, false])
  vi.advanceTimersByTime(500)
  expect(new Seen(shelf).isSeen(row(1))).toBe(true)
})

it('writes at once when the page is left', () => {
  const shelf = new Memory()
  const seen = new Seen(shelf)
  seen.opened('ben', idOf(1))
  expect(shelf.kept).toEqual({})
  seen.flush()
  expect(new Seen(shelf).isSeen(row(1))).toBe(true)
})

it('marks all read by one cursor, and one of them unread again', () => {
  const seen = new Seen(new Memory())
  const rows = [row(3), row(2), row(1)]
  seen.readAll(rows)
  expect(seen.unread(rows)).toBe(0)
  expect(seen.isSeen(row(4))).toBe(false)
  seen.unopen([row(2)], rows)
  expect(rows.map((one) => seen.isSeen(one))).toEqual([true, false, true])
})

it('keeps five thousand, the last ones', () => {
  const shelf = new Memory()
  const seen = new Seen(shelf)
  for (let number = 1; number <= 5003; number += 1) seen.opened('ben', idOf(number))
  seen.flush()
  const again = new Seen(shelf)
  expect([1, 3, 4, 5003].map((number) => again.isSeen(row(number)))).toEqual([false, false, true, true])
  shelf.kept['postkeep.seen'] = JSON.stringify({ ids: Array.from({ length: 5003 }, (_, at) => `ben/${idOf(at + 1)}`) })
  again.reload()
  expect([3, 4].map((number) => again.isSeen(row(number)))).toEqual([false, true])
})

it('counts what came while the page was open until it is opened, deleted or marked', () => {
  const seen = new Seen(new Memory())
  seen.opened('ben', idOf(1))
  seen.arrived([1, 2, 3].map((number) => ({ mailbox: 'ben', id: idOf(number) })))
  seen.arrived([{ mailbox: 'anna', id: idOf(4) }])
  expect([seen.fresh('ben'), seen.fresh('anna'), seen.fresh(null)]).toEqual([2, 1, 3])
  seen.opened('ben', idOf(2))
  seen.gone([{ mailbox: 'ben', id: idOf(3) }, { mailbox: 'ben', id: idOf(3) }])
  expect([seen.fresh('ben'), seen.fresh(null)]).toEqual([0, 1])
  seen.emptied('anna')
  expect(seen.fresh(null)).toBe(0)
})

it('takes one copy of a mail for all of them', () => {
  const seen = new Seen(new Memory())
  const copies = ['anna', 'ben'].map((mailbox) => ({ mailbox, id: idOf(1) }))
  seen.copiesOf = () => copies
  seen.arrived(copies)
  seen.opened('ben', idOf(1))
  expect([seen.isSeen(row(1, 'anna')), seen.fresh(null)]).toEqual([true, 0])
})

it('survives a shelf that somebody else wrote', () => {
  const shelf = new Memory()
  for (const text of ['{', '[]', '{"ids":7,"cursors":[1]}', '{"ids":[{}],"cursors":{"ben":5}}']) {
    shelf.kept['postkeep.seen'] = text
    expect(new Seen(shelf).isSeen(row(1)), text).toBe(false)
  }
})
