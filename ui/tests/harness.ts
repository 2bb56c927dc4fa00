// What every test starts from: a running server, a mailbox nobody else uses, a page that sees it, and letters to send there.
import { test as base, expect, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from '@playwright/test'
import { Canary } from './harness/canary'
import { mail, type Letter } from './harness/mail'
import { Server } from './harness/server'
import { deliver, flood, type Flood } from './harness/smtp'
import { View } from './harness/view'

export * from './harness/browser'
export * from './harness/mail'
export * from './harness/server'
export * from './harness/smtp'
export * from './harness/view'
export { Canary } from './harness/canary'
export * from './harness/relay'
export { Proxy } from './harness/proxy'
export { expect }

export const LONG = process.env.LONG === '1'

interface Each {
  /** A name that no other test sends to. */
  box: string
  view: View
  send: (letter: Letter, to?: string) => Promise<number>
}
interface Shared {
  server: Server
  canary: Canary
}

let used = 0
export const fresh = (word = 'box'): string => `${word}-${process.pid.toString(36)}-${++used}`
export const address = (name: string): string => `${name}@customers.test`

/** A letter to one mailbox of a server; the instant of its 250. */
export function send(server: Server, letter: Letter, to: string, from?: string): Promise<number> {
  return deliver(server.smtpPort, { from, to: [address(to)], data: mail({ to: address(to), ...letter }) })
}

/** Many short letters to one mailbox, `subject 0`, `subject 1` and on. */
export function sendMany(server: Server, to: string, count: number, subject: string, options: Partial<Flood> = {}): Promise<number[]> {
  const make = (n: number) => ({ to: [address(to)], data: mail({ to: address(to), from: `Sender ${n} <s${n}@shop.test>`, subject: `${subject} ${n}`, text: `Words of letter ${n}.` }) })
  return flood(server.smtpPort, { count, make, ...options })
}

/** Another person: a browser that has seen nothing yet. */
export async function person(browser: Browser, options: BrowserContextOptions = {}): Promise<{ context: BrowserContext; page: Page; view: View }> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  return { context, page, view: new View(page) }
}

export const test = base.extend<Each, Shared>({
  server: [
    async ({}, use) => {
      const server = await Server.start()
      await use(server)
      await server.stop()
    },
    { scope: 'worker' },
  ],
  canary: [
    async ({}, use) => {
      const canary = await Canary.start()
      await use(canary)
      canary.stop()
    },
    { scope: 'worker' },
  ],
  box: async ({}, use) => use(fresh()),
  view: async ({ page }, use) => use(new View(page)),
  send: async ({ server, box }, use) => use((letter, to = box) => send(server, letter, to)),
  baseURL: async ({ server }, use) => use(server.url),
})
