// The budgets: what is measured, its limit, and how near it may come. Measures nothing itself.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, LONG } from '../harness'

export interface Budget {
  limit: number
  unit: string
  /** A size is the same on every machine; a time may be three times as long where others work too. */
  kind: 'size' | 'time'
}

export const budgets = {
  'JS at first load': { limit: 60_000, unit: 'B', kind: 'size' },
  'CSS at first load': { limit: 12_000, unit: 'B', kind: 'size' },
  'all at first load': { limit: 80_000, unit: 'B', kind: 'size' },
  'requests at first load': { limit: 5, unit: '', kind: 'size' },
  'requests for the list': { limit: 1, unit: '', kind: 'size' },
  'first paint, cold': { limit: 300, unit: 'ms', kind: 'time' },
  'list of 50 after the HTML': { limit: 150, unit: 'ms', kind: 'time' },
  '250 to row visible, p95': { limit: 100, unit: 'ms', kind: 'time' },
  '250 to row visible at 1,000/s, p95': { limit: 1000, unit: 'ms', kind: 'time' },
  'open a 20 kB message': { limit: 100, unit: 'ms', kind: 'time' },
  '10,000 rows flung: longest task': { limit: 50, unit: 'ms', kind: 'time' },
  '10,000 rows flung: frame, p95': { limit: 17.5, unit: 'ms', kind: 'time' },
  'rows in the DOM': { limit: 60, unit: '', kind: 'size' },
  'an hour at 50 mails/s: heap': { limit: 60, unit: 'MB', kind: 'size' },
  'an hour at 50 mails/s: DOM nodes': { limit: 2500, unit: '', kind: 'size' },
} satisfies Record<string, Budget>
export type Name = keyof typeof budgets

/** Browser, server and mail share two cores in CI: what is this much too slow is broken, not busy. */
const ROOM = 6
const FILE = 'tests/out/budget.json'
const runs = LONG ? 5 : 1

/** Measures as often as the run asks for, keeps the median, and holds it to its limit. */
export async function hold(name: Name, measure: () => Promise<number>): Promise<void> {
  const values = []
  for (let n = 0; n < (budgets[name].kind === 'time' ? runs : 1); n++) values.push(await measure())
  check(name, values)
}

export function check(name: Name, values: number[]): void {
  const { limit, unit, kind }: Budget = budgets[name]
  const value = median(values)
  keep(name, { value, limit, unit, values: values.map((one) => Math.round(one * 10) / 10) })
  console.log(`${name.padEnd(40)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(2)}  limit ${limit}`)
  expect.soft(value, name).toBeLessThanOrEqual(kind === 'time' && !LONG ? limit * ROOM : limit)
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

export function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
}

function keep(name: string, figure: object): void {
  mkdirSync('tests/out', { recursive: true })
  writeFileSync(FILE, JSON.stringify({ ...kept(), [name]: figure }, null, 1))
}

function kept(): Record<string, object> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, object>
  } catch {
    return {}
  }
}
