// Every address of the page with something to see on it, for whoever wants to look at all of them.
import { expect, test, type Page } from '@playwright/test'
import { CANARIES } from './browser'
import { mail, newsletter, PNG, reset, type Letter } from './mail'
import { Server } from './server'
import { deliver } from './smtp'
import { View } from './view'

export interface Stop {
  name: string
  path: string
  /** What is there once the view is whole. */
  ready: (page: Page) => Promise<void>
}

export const letters: { to: string[]; from?: string; letter: Letter }[] = [
  { to: ['anna'], letter: { from: 'Cron Daemon <cron@host.test>', subject: 'nightly.sh: exit 1', text: 'line 0: copied chunk 0' } },
  { to: ['ben'], letter: { from: 'QA <qa@shop.test>', subject: 'This is a very long subject that goes on and on and on until nobody remembers where it began or what it was about', text: 'x' } },
  { to: ['ben'], letter: { from: 'nobody@shop.test', text: 'This one has no subject.' } },
  { to: ['ben'], letter: { from: 'مركز الدعم <help@shop.test>', subject: 'طلبك رقم 20455 جاهز للاستلام', text: 'مرحبا' } },
  { to: ['ben'], letter: { from: 'Verify <verify@shop.test>', subject: 'Confirm your e-mail address', text: 'Almost there.', html: '<p>Almost there. <a href="https://shop.test/verify?t=1">Confirm your e-mail address</a></p>' } },
  { to: ['ben'], letter: newsletter(CANARIES, 9) },
  { to: ['ben'], letter: { from: 'Billing <billing@shop.test>', subject: 'Receipt 9009 for EUR 63.90', text: 'Thanks Ben.', files: [{ type: 'application/pdf', name: '"receipt.pdf"', data: '%PDF-1.4 x' }, { type: 'image/png', name: '"shop.png"', data: PNG }, { type: 'text/plain', name: '"holiday.png"', data: 'not a picture' }] } },
  { to: ['anna', 'ben', 'auditor'], from: 'bounce@shop.test', letter: { from: 'Board <board@shop.test>', to: 'Anna <anna@customers.test>, Ben <ben@customers.test>, Ghost <ghost@elsewhere.test>', subject: 'Board minutes (two seen, one blind)', text: 'Minutes of the board.\r\n\r\nYour code for the meeting room is 774411.\r\n\r\nhttps://shop.test/minutes/41' } },
  { to: ['ben'], from: 'bounce@shop.test', letter: reset('481920') },
]

/** An open server with all of this on it, for the tests of a file or a group. */
export function filled(): { server: Server; ids: Record<string, string> } {
  const house = {} as { server: Server; ids: Record<string, string> }
  test.beforeAll(async () => {
    house.server = await Server.start()
    house.ids = await fill(house.server)
  })
  test.afterAll(() => house.server.stop())
  return house
}

/** Fills a server with what the views show; the ids of the newest mail of each mailbox. */
export async function fill(server: Server): Promise<Record<string, string>> {
  for (const { to, from, letter } of letters) {
    const addresses = to.map((name) => `${name}@customers.test`)
    await deliver(server.smtpPort, { from, to: addresses, data: mail({ to: addresses.join(', '), ...letter }) })
  }
  const newest: Record<string, string> = {}
  for (const box of ['anna', 'ben', 'auditor']) {
    const { items } = await server.ask<{ items: { id: string }[] }>(`/api/v2/mailboxes/${box}/messages`)
    newest[box] = items[0]?.id ?? ''
  }
  return newest
}

const heading = (text: RegExp) => async (page: Page) => void (await expect(page.getByRole('heading', { name: text }).first()).toBeVisible())
const rows = async (page: Page) => void (await expect(new View(page).row('Reset your password').first()).toBeVisible())
const subject = (text: string | RegExp) => async (page: Page) => void (await expect(new View(page).subject).toHaveText(text))

/** The views of a filled server that is open. */
export function stops(ids: Record<string, string>): Stop[] {
  const message = `/m/ben/${ids.ben}`
  const tab = (name: string, id = message) => ({ name, path: `${id}/${name}`, ready: subject(/./) })
  return [
    { name: 'all', path: '/', ready: rows },
    { name: 'mailbox', path: '/m/ben', ready: rows },
    { name: 'empty', path: '/m/nobody-yet', ready: async (page) => void (await expect(page.getByText('Waiting for mail to nobody-yet').filter({ visible: true })).toHaveCount(1)) },
    { name: 'message', path: message, ready: subject('Reset your password') },
    { name: 'blind', path: `/m/auditor/${ids.auditor}`, ready: subject(/Board minutes/) },
    tab('text'), tab('headers'), tab('source'), tab('parts'),
    { name: 'latest', path: '/latest', ready: subject('Reset your password') },
    { name: 'search', path: '/?q=receipt', ready: async (page) => void (await expect(new View(page).rows.first()).toBeAttached()) },
    { name: 'nohits', path: '/m/ben?q=zebra', ready: async (page) => void (await expect(page.getByText(/zebra/).filter({ visible: true }).first()).toBeVisible()) },
    { name: 'gone', path: '/m/ben/nosuchid', ready: async (page) => void (await expect(page.getByText(/Deleted or expired/).first()).toBeVisible()) },
    { name: 'monitor', path: '/monitor', ready: heading(/Monitor/) },
    { name: 'faults', path: '/faults', ready: heading(/Faults/) },
    { name: 'connect', path: '/connect', ready: heading(/Connect/) },
    { name: 'help', path: '/help', ready: heading(/Help|Keys/) },
    { name: 'login', path: '/login', ready: heading(/Sign in/) },
    { name: 'unknown', path: '/m/ben/x/nonsense', ready: heading(/nothing at this address/) },
  ]
}
