// Which lines are drawn, that none moves when others come, and that elements stay with their lines.
import { describe, expect, it } from 'vitest'
import type { Row } from '../state/row'
import { inSight, OVERSCAN, reveal, shift, SHOWN_MAX } from './sight'
import { Slots } from './slots'

const rows = (...keys: string[]) => keys.map((key) => ({ key }) as Row)

describe('what is in sight', () => {
  it('is what the pane shows and a few lines beyond', () => {
    expect(inSight(0, 560, 56, 1000)).toEqual({ first: 0, last: 9, from: 0, to: 9 + OVERSCAN })
    expect(inSight(5600, 560, 56, 1000)).toEqual({ first: 100, last: 109, from: 100 - OVERSCAN, to: 109 + OVERSCAN })
    expect(inSight(5601, 560, 56, 1000)).toMatchObject({ first: 100, last: 110 })
    expect(inSight(1e9, 560, 56, 1000)).toMatchObject({ first: 999, last: 999, to: 999 })
  })

  it('is nothing in an empty list, and never more than the document takes', () => {
    const none = inSight(0, 560, 56, 0)
    expect(none.to - none.from + 1).toBeLessThanOrEqual(0)
    const tall = inSight(32_000, 5000, 32, 10_000)
    expect(tall.to - tall.from + 1).toBe(SHOWN_MAX)
  })
})

describe('a list that changes', () => {
  it('shifts by what came above', () => {
    expect(shift(rows('c', 'b', 'a'), rows('e', 'd', 'c', 'b', 'a'), 1)).toEqual({ by: 2, came: 2 })
    expect(shift(rows('c', 'b', 'a'), rows('c', 'b', 'a', 'older'), 2)).toEqual({ by: 0, came: 0 })
  })

  it('shifts back by what went above, and goes by the next line when the first is gone', () => {
    expect(shift(rows('d', 'c', 'b', 'a'), rows('c', 'b', 'a'), 2)).toEqual({ by: -1, came: 0 })
    expect(shift(rows('d', 'c', 'b', 'a'), rows('d', 'b', 'a'), 1)).toEqual({ by: -1, came: 0 })
    expect(shift(rows('b', 'a'), rows('z'), 0)).toEqual({ by: 0, came: 0 })
  })

  it('comes into sight no further than it must', () => {
    expect(reveal(10, 0, 560, 56)).toBe(11 * 56 - 560)
    expect(reveal(2, 560, 560, 56)).toBe(112)
    expect(reveal(5, 0, 560, 56)).toBe(0)
  })
})

describe('elements', () => {
  it('stay with their lines and are used again', () => {
    const slots = new Slots()
    expect(slots.assign(['a', 'b', 'c'], null)).toEqual([0, 1, 2])
    expect(slots.assign(['b', 'c', 'd'], null)).toEqual([1, 2, 0])
    expect(slots.assign(['new', 'b', 'c'], null)).toEqual([0, 1, 2])
    expect(slots.assign(['x', 'y', 'z'], null), 'after a jump in the same order').toEqual([0, 1, 2])
  })

  it('with the focus are given to no other line', () => {
    const slots = new Slots()
    slots.assign(['a', 'b'], null)
    expect(slots.assign(['b', 'c'], 'a')).toEqual([1, 2])
  })
})
