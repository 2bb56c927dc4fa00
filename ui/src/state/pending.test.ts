// Deleting that can be undone for eight seconds, and that is done when the page is left.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Notices } from './notices.svelte'
import { Pending } from './pending.svelte'
import { fakeCalls, idOf } from './testing'

const copy = (number: number, mailbox = 'ben') => ({ mailbox, id: idOf(number) })
const LONG_AGO = '2026-01-01T00:00:00.000Z'

function start(status = 200, bulkMax = 1000) {
  const { calls, asked } = fakeCalls(() => (status === 200 ? {} : status))
  const notices = new Notices()
  const pending = new Pending(calls, notices, () => bulkMax)
  const events = { changed: vi.fn(), leaving: vi.fn(), emptying: vi.fn(), deleted: vi.fn(), purged: vi.fn() }
  pending.events = events
  return { pending, notices, asked, events }
}
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('hides at once, and calls after eight seconds', async () => {
  const { pending, asked, events, notices } = start()
  pending.delete([copy(1), copy(2), copy(3, 'anna')], 2)
  expect(notices.items[0]?.text).toBe('2 messages deleted')
  expect([pending.hides(copy(1), LONG_AGO), pending.hides(copy(1, 'anna'), LONG_AGO)]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(7_500)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(700)
  expect(asked.map(({ path, body }) => [path, body])).toEqual([
    ['/api/v2/mailboxes/ben/messages/delete', { ids: [idOf(1), idOf(2)] }],
    ['/api/v2/mailboxes/anna/messages/delete', { ids: [idOf(3)] }],
  ])
  expect(events.deleted).toHaveBeenCalledOnce()
  expect(pending.any).toBe(false)
})

it('is undone by its button and by key, the last first', async () => {
  const { pending, asked, notices } = start()
  pending.delete([copy(1)])
  pending.delete([copy(2)])
  pending.undo()
  expect([pending.hides(copy(1), LONG_AGO), pending.hides(copy(2), LONG_AGO)]).toEqual([true, false])
  const [notice] = notices.items
  notices.close(notice?.id ?? 0, 'acted')
  notice?.action?.run()
  await vi.advanceTimersByTimeAsync(20_000)
  expect([asked, pending.any]).toEqual([[], false])
})

it('is done once, outliving the page, when that is left', async () => {
  const { pending, asked } = start()
  pending.delete([copy(1)])
  pending.flush()
  pending.flush()
  pending.flush()
  await vi.advanceTimersByTimeAsync(20_000)
  expect(asked).toHaveLength(1)
  expect(asked[0]?.keepalive).toBe(true)
})

it('goes in pieces that the server takes', async () => {
  const { pending, asked } = start(200, 2)
  pending.delete([1, 2, 3].map((number) => copy(number)))
  await vi.advanceTimersByTimeAsync(9_000)
  expect(asked.map((one) => one.body)).toEqual([{ ids: [idOf(1), idOf(2)] }, { ids: [idOf(3)] }])
})

it('that fails brings the lines back and says why', async () => {
  const { pending, notices, events } = start(503)
  pending.delete([copy(1)])
  await vi.advanceTimersByTimeAsync(8_100)
  expect(pending.hides(copy(1), LONG_AGO)).toBe(false)
  expect(events.deleted).not.toHaveBeenCalled()
  expect(notices.items.map(({ text, tone }) => [text, tone])).toEqual([['Nothing was deleted: refused 503', 'fault']])
})

it('empties up to the cursor that was shown: later mail is neither hidden nor deleted', async () => {
  const { pending, asked, events } = start()
  pending.purge('ben', 'cursor', '2026-01-01T10:00:00.000001+00:00')
  expect([pending.hides(copy(1), '2026-01-01T10:00:00.000001+00:00'), pending.hides(copy(2), '2026-01-01T10:00:00.000002+00:00')]).toEqual([true, false])
  expect([pending.hides(copy(1, 'anna'), LONG_AGO), pending.purges('ben'), pending.purges('anna')]).toEqual([false, true, false])
  await vi.advanceTimersByTimeAsync(8_100)
  expect(asked.map(({ method, path, query }) => [method, path, query])).toEqual([['DELETE', '/api/v2/mailboxes/ben/messages', { until: 'cursor' }]])
  expect(events.purged).toHaveBeenCalledWith('ben', '2026-01-01T10:00:00.000001+00:00')
})

it('empties all mailboxes only by name', async () => {
  const { pending, asked } = start()
  pending.purge(null, 'cursor', LONG_AGO)
  expect(pending.hides(copy(1, 'whose'), LONG_AGO)).toBe(true)
  await vi.advanceTimersByTimeAsync(8_100)
  expect(asked[0]).toMatchObject({ method: 'DELETE', path: '/api/v2/messages', query: { all: true, until: 'cursor' } })
})
