// Times, spans and sizes as people read them.
import { expect, it } from 'vitest'
import { counted, duration, listTime, size, span } from './format'

it('tells times by how long ago they were', () => {
  const now = new Date(2026, 10, 14, 10, 42)
  const said = (...at: [number, number, number, number, number]) => listTime(new Date(...at), now, 'Yesterday')
  expect(said(2026, 10, 14, 9, 5)).toBe('09:05')
  expect(said(2026, 10, 13, 23, 59)).toBe('Yesterday')
  expect(said(2026, 10, 12, 12, 0)).toMatch(/12/)
  expect(said(2025, 10, 12, 12, 0)).toMatch(/2025/)
})

it('counts', () => {
  expect([counted(0, 'message', 'messages'), counted(1, 'message', 'messages'), counted(1204, 'message', 'messages')]).toEqual(['0 messages', '1 message', '1,204 messages'])
  expect([12_000, 90_000, 7_200_000, 200_000_000].map(span)).toEqual(['12 seconds', '2 minutes', '2 hours', '2 days'])
  expect(['7d', '1h', '90m', '250ms', 'ever'].map(duration)).toEqual(['7 days', '1 hour', '90 minutes', '250ms', 'ever'])
  expect([633, 1500, 1_900_000, 999_999_999].map(size)).toEqual(['633 B', '1.5 kB', '1.9 MB', '1000 MB'])
})
