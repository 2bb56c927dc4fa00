// The envelope against the header: blind copies, names without delivery, another sender; and silence where nothing is known.
import { expect, it } from 'vitest'
import { clockOff, envelopeTruth, recipients } from './envelope'

const person = (email: string, name: string | null = null) => ({ name, email })
const mail = (mailFrom: string | null, rcptTo: string[], to: string[], more: { cc?: string[]; bcc?: string[]; otherRecipients?: number | null; from?: string } = {}) => ({
  envelope: { mailFrom, rcptTo },
  from: person(more.from ?? 'a@x.test'),
  to: to.map((one) => person(one)),
  cc: (more.cc ?? []).map((one) => person(one)),
  bcc: (more.bcc ?? []).map((one) => person(one)),
  otherRecipients: more.otherRecipients ?? 0,
})
const agrees = { sender: null, blind: [], undelivered: [], others: 0 }

it('has nothing to say when both agree', () => {
  expect(envelopeTruth(mail('a@x.test', ['b@y.test'], ['b@y.test']), false)).toEqual({ ...agrees, recipients: ['b@y.test'] })
})

it('tells another sender', () => {
  expect(envelopeTruth(mail('bounce@x.test', ['b@y.test'], ['b@y.test']), false)?.sender).toBe('bounce@x.test')
})

it('tells the null sender of a bounce', () => {
  expect(envelopeTruth(mail(null, ['b@y.test'], ['b@y.test']), false)?.sender).toBe('')
})

it('does not mind letter case, nor how a domain is written', () => {
  const truth = envelopeTruth(mail('A@X.test', ['B@bücher.test'], ['b@XN--BCHER-KVA.test']), false)
  expect(truth).toMatchObject(agrees)
})

it('minds what stands behind a plus', () => {
  expect(envelopeTruth(mail('a@x.test', ['b+1@y.test'], ['b@y.test']), false)).toMatchObject({ blind: ['b+1@y.test'], undelivered: ['b@y.test'] })
})

it('tells a recipient that no field names', () => {
  const truth = envelopeTruth(mail('a@x.test', ['b@y.test', 'secret@y.test', 'c@y.test'], ['b@y.test'], { cc: ['c@y.test'] }), false)
  expect(truth).toMatchObject({ blind: ['secret@y.test'], undelivered: [] })
})

it('does not call blind who stands in a Bcc field', () => {
  expect(envelopeTruth(mail('a@x.test', ['b@y.test', 'c@y.test'], ['b@y.test'], { bcc: ['c@y.test'] }), false)?.blind).toEqual([])
})

it('tells who is named and got nothing', () => {
  expect(envelopeTruth(mail('a@x.test', ['b@y.test'], ['b@y.test', 'zoe@z.test']), false)?.undelivered).toEqual(['zoe@z.test'])
})

it('does not say so while recipients are kept back: it may be one of them', () => {
  expect(envelopeTruth(mail('a@x.test', ['b@y.test'], ['b@y.test', 'zoe@z.test'], { otherRecipients: 1 }), false)).toMatchObject({ undelivered: [], others: 1 })
})

it('counts each address once', () => {
  const truth = envelopeTruth(mail('a@x.test', ['s@y.test', 'S@y.test'], ['b@y.test', 'B@y.test']), false)
  expect(truth).toMatchObject({ recipients: ['s@y.test'], blind: ['s@y.test'], undelivered: ['b@y.test'] })
})

it('says nothing in public, nor without an envelope', () => {
  expect(envelopeTruth(mail('bounce@x.test', ['b@y.test'], []), true)).toBeNull()
  expect(envelopeTruth(mail(null, [], ['b@y.test']), false)).toBeNull()
})

it('puts the address fields together', () => {
  const all = recipients({ to: [person('a@x.test', 'A'), person('A@x.test')], cc: [person('b@x.test')], bcc: [person('c@x.test')] })
  expect(all.map((one) => one.email)).toEqual(['a@x.test', 'b@x.test', 'c@x.test'])
})

it('tells a clock that is off by more than five minutes', () => {
  const at = (sentAt: string | null) => clockOff({ sentAt, receivedAt: '2026-11-14T09:30:00.123456+00:00' })
  expect(at('2026-11-14T09:26:00+00:00')).toBeNull()
  expect(at(null)).toBeNull()
  expect(at('2026-11-14T11:30:00+00:00')).toBeGreaterThan(7_100_000)
  expect(at('2026-11-14T10:20:00+01:00')).toBeLessThan(-590_000)
})
