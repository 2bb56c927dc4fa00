// For tests of the list: a list of so many mails on a server in memory, and a hand on all that it hears.
import type { Summary } from '../api/client'
import { MessageList } from './list.svelte'
import { Notices } from './notices.svelte'
import { Pending } from './pending.svelte'
import { fakeCalls, FakeLive, serving, summary, type Asked } from './testing'

export function start(count: number, answering?: (asked: Asked) => unknown) {
  const mails: Summary[] = Array.from({ length: count }, (_, at) => summary(at + 1))
  const serve = serving(() => mails)
  const { calls, asked } = fakeCalls((one) => answering?.(one) ?? serve(one))
  const live = new FakeLive()
  const pending = new Pending(calls, new Notices())
  const list = new MessageList(calls, live.live, pending)
  pending.events = { ...pending.events, changed: () => list.republish(), deleted: (copies) => list.deleted(copies) }
  const subjects = () => list.rows.map((row) => row.subject)
  const deliver = (...numbers: number[]) => numbers.forEach((number) => (mails.push(summary(number)), live.deliver(summary(number))))
  return { mails, asked, live, pending, list, subjects, deliver }
}
