// Which lines are in sight, and where the list must stand so that none of them moves when others come or go. Pure.
import type { Row } from '../state/row'

/** Lines that are ready beyond both edges. */
export const OVERSCAN = 8
/** More are never in the document, however tall the window. */
export const SHOWN_MAX = 60

export interface Sight {
  /** In sight. */
  first: number
  last: number
  /** In the document. */
  from: number
  to: number
}

export function inSight(top: number, height: number, row: number, count: number): Sight {
  const last = count - 1
  const first = Math.min(Math.max(0, Math.floor(top / row)), Math.max(0, last))
  const end = Math.min(last, Math.max(first, Math.ceil((top + height) / row) - 1))
  const from = Math.max(0, first - OVERSCAN)
  return { first, last: end, from, to: Math.min(last, end + OVERSCAN, from + SHOWN_MAX - 1) }
}

export interface Shift {
  /** By how many lines what was in sight has moved. */
  by: number
  /** Lines that came in front of all that was there. */
  came: number
}

/** From one list to the next, seen from the line at the upper edge; when that is gone, from the next that stays. */
export function shift(before: readonly Row[], now: readonly Row[], first: number): Shift {
  const placeOf = (row: Row | undefined) => (row ? now.findIndex((one) => one.key === row.key) : -1)
  const came = Math.max(0, placeOf(before[0]))
  if (before[first] && before[first].key === now[first]?.key) return { by: 0, came }
  for (let at = first; at < Math.min(before.length, first + SHOWN_MAX); at += 1) {
    const place = placeOf(before[at])
    if (place >= 0) return { by: place - at, came }
  }
  return { by: 0, came }
}

/** Where to stand so that a line is wholly in sight; the same place when it is already. */
export function reveal(index: number, top: number, height: number, row: number): number {
  if (index * row < top) return index * row
  return (index + 1) * row > top + height ? (index + 1) * row - height : top
}
