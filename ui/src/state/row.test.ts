// What a line says at its end, and which lines are chosen.
import { describe, expect, it } from 'vitest'
import { rowOf, withExtract, type Extract } from './row'
import { Selection } from './selection.svelte'
import { idOf, summary } from './testing'

describe('what is read of a message', () => {
  const row = rowOf(summary(1, { envelope: { mailFrom: 'a@x.test', rcptTo: ['Ben@y.test'] } }), false)
  const hints = (more: Partial<Extract>) => withExtract(row, { mailbox: 'ben', id: idOf(1), to: [{ email: 'ben@Y.test' }], ...more }).hints

  it('names a code only when a test would take it', () => {
    const code = (value: string, confidence: number) => ({ value, confidence }) as never
    expect(hints({ codes: [code('481920', 0.9), code('11', 0.3)] })?.code).toBe('481920')
    expect(hints({ codes: [code('481920', 0.9), code('334083', 0.85)] })?.code).toBeNull()
  })

  it('counts files, but not the images of the body', () => {
    expect(hints({ attachments: [{ type: 'image/png', cid: 'a' }, { type: 'application/pdf', cid: 'b' }, { type: 'image/png' }] })?.files).toBe(2)
  })

  it('tells of a recipient that no header names', () => {
    expect([hints({})?.blind, hints({ to: [], cc: [] })?.blind, hints({ to: [], cc: [{ email: 'ben@y.test' }] })?.blind]).toEqual([false, true, false])
  })
})

describe('choosing', () => {
  const rows = [5, 4, 3, 2, 1].map((number) => rowOf(summary(number), false))
  const key = (at: number) => rows[at]?.key ?? ''
  const chosen = (selection: Selection) => rows.map((row) => (selection.has(row.key) ? 1 : 0)).join('')

  it('goes line by line, from one to another, and all at once', () => {
    const selection = new Selection()
    selection.toggle(key(1))
    selection.extend(rows, key(3))
    expect(chosen(selection)).toBe('01110')
    selection.toggle(key(2))
    expect(chosen(selection)).toBe('01010')
    selection.clear()
    selection.active = key(0)
    selection.step(rows, 1)
    selection.step(rows, 1)
    expect([chosen(selection), selection.active]).toEqual(['11100', key(2)])
    selection.all(rows)
    expect(selection.size).toBe(5)
    selection.keep(rows.slice(0, 2))
    expect(selection.size).toBe(2)
  })
})
