// Puts hostile text into mails, several to a mail where they do not swallow each other, and delivers them.
import { address, deliver, mail, type Letter, type Server } from '../harness'
import type { Payload } from './payloads'

/** A delivered mail, and what of it is to be pressed and opened. */
export interface Bait {
  mailbox: string
  id: string
  payloads: Payload[]
  click: boolean
  hasHtml: boolean
  parts: string[]
}

const HTML_EACH = 5
const PARTS_EACH = 11

/** Delivers them all to one mailbox. */
export async function bait(server: Server, mailbox: string, payloads: Payload[]): Promise<Bait[]> {
  const of = (place: string, click = false) => payloads.filter((one) => one.place === place && one.click === click)
  const batches = [...htmlBatches(of('html')), ...htmlBatches(of('html', true)), ...groups(of('text'), 8), ...of('field').map((one) => [one]), ...groups(of('part'), PARTS_EACH)]
  const sent: Bait[] = []
  for (const batch of batches) {
    const letter = written(batch)
    try {
      await deliver(server.smtpPort, { to: [address(mailbox)], data: mail({ to: address(mailbox), ...letter }) })
    } catch (fault) {
      throw new Error(`payloads ${batch.map((one) => one.number).join(', ')} were refused: ${String(fault)}`)
    }
    sent.push({ mailbox, id: '', payloads: batch, click: batch[0]?.click ?? false, hasHtml: letter.html !== undefined, parts: [] })
  }
  await name(server, mailbox, sent)
  return sent
}

/** The ids that the mails got, which are listed newest first, and those of their files. */
async function name(server: Server, mailbox: string, sent: Bait[]): Promise<void> {
  type Page = { items: { id: string }[] }
  const { items } = await server.ask<Page>(`/api/v2/mailboxes/${mailbox}/messages?limit=500`)
  if (items.length !== sent.length) throw new Error(`${sent.length} mails were sent and ${items.length} are there`)
  for (const [n, one] of [...sent].reverse().entries()) {
    one.id = items[n]?.id ?? ''
    if (one.payloads[0]?.place !== 'part') continue
    const { attachments } = await server.ask<{ attachments: { partId: string }[] }>(`/api/v2/mailboxes/${mailbox}/messages/${one.id}`)
    one.parts = attachments.map((part) => part.partId)
  }
}

/** At most one that swallows what follows, and it last. */
function htmlBatches(payloads: Payload[]): Payload[][] {
  const [greedy, modest] = [payloads.filter((one) => one.greedy), payloads.filter((one) => !one.greedy)]
  const batches = groups(modest, HTML_EACH - 1)
  for (const [n, one] of greedy.entries()) {
    if (batches[n]) batches[n].push(one)
    else batches.push([one])
  }
  return batches
}

function groups<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))
}

function written(batch: Payload[]): Letter {
  const first = batch[0]
  const subject = `Bait ${batch.map((one) => one.number).join(' ')}`
  if (first?.place === 'html') return { subject, text: 'x', html: `<p>letters</p>${batch.map((one) => `<div>${one.value}</div>`).join('\r\n')}`.replace(/\r?\n/g, '\r\n') }
  if (first?.place === 'text') return { subject, text: batch.map((one) => `Look: ${one.value} end`).join('\r\n') }
  if (first?.place === 'part') return { subject, text: 'x', html: '<p>letters</p>', files: batch.map((one) => ({ type: one.type || 'x', name: `"${one.name}"`, data: one.value })) }
  return fielded(first?.value ?? '')
}

/** In every field that somebody else fills in, each time in another encoding. */
function fielded(value: string): Letter {
  const b64 = `=?utf-8?B?${Buffer.from(value).toString('base64')}?=`
  const q = `=?utf-8?Q?${[...Buffer.from(value)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')}?=`
  const quoted = value.replace(/[\\"]/g, '\\$&')
  return {
    subject: value, from: `${b64} <from@shop.test>`, to: `"${quoted}" <to@customers.test>, ${q} <other@elsewhere.test>`, cc: `"${quoted}" <cc@elsewhere.test>`,
    text: value, html: `<p>letters</p><p title="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">x</p>`,
    headers: [`X-Odd: ${value}`, `Reply-To: "${quoted}" <reply@shop.test>`, `List-Unsubscribe: <https://shop.test/${encodeURI(value)}>`, `X-Tag: ${b64}`],
    files: [
      { type: 'text/plain', name: `"${quoted}"`, data: value, headers: [`Content-Description: ${value}`] },
      { type: `image/png; name="${quoted}"`, name: `x; filename*=utf-8''${encodeURIComponent(value)}`, data: value, cid: value.replace(/[<>\s]/g, '') },
    ],
  }
}
