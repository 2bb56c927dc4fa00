// What the page gives to copy does what it says: each sample sends, each "Copy as" text finds its mail. The texts are copied on the
// page and run as they are; without LONG=1 only those that need nothing fetched. A program that is not here is named.
import type { Page } from '@playwright/test'
import { expect, fresh, LONG, reset, send, Server, test } from './harness'
import { WAITERS } from './samples/copies'
import { ALONE, TRADES, type Copied, type Trade } from './samples/trades'
import { missing, Unfetched, Workshop } from './samples/workshop'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const LABELS: Record<string, string> = {
  curl: 'curl', node: 'Node', python: 'Python', laravel: 'Laravel', rails: 'Rails', swaks: 'swaks', django: 'Django', symfony: 'Symfony', spring: 'Spring',
  dotnet: '.NET', go: 'Go', rust: 'Rust', compose: 'Compose',
}

/** By name and aloud, since what was not run is not shown to work. */
function skip(condition: boolean, why: string): void {
  if (condition) console.log(`     not run: ${test.info().title}: ${why}`)
  test.skip(condition, why)
}

function able(needs: string[], slow: boolean | undefined): void {
  skip(slow === true && !LONG, 'takes long; LONG=1 runs it')
  const absent = missing(...needs)
  skip(absent.length > 0, `not installed here: ${absent.join(', ')}`)
  test.setTimeout(slow ? 1_200_000 : 180_000)
}

function unfetched(fault: unknown): never {
  skip(fault instanceof Unfetched, fault instanceof Error ? fault.message : '')
  throw fault
}

test('there is a way to run every sample', async ({ page }) => {
  await page.goto('/connect')
  const offered = page.getByRole('group', { name: 'Sample for' }).getByRole('button')
  await expect(offered.first()).toBeVisible()
  expect((await offered.allTextContents()).map((label) => label.trim()).sort()).toEqual(Object.values(LABELS).sort())
  expect(Object.keys(TRADES).sort()).toEqual(Object.keys(LABELS).sort())
})

/** Copies a sample on the page, runs it, and looks whether its mail is there. */
async function sends(id: string, trade: Trade, page: Page, server: Server): Promise<void> {
  const box = fresh('sample')
  await page.goto(`${server.url}/connect`)
  await page.getByLabel('Samples write to the mailbox').fill(box)
  await page.getByRole('group', { name: 'Sample for' }).getByRole('button', { name: LABELS[id], exact: true }).click()
  const copied: Copied[] = []
  for (const figure of await page.locator('figure[data-sample]').all()) {
    await figure.getByRole('button', { name: 'Copy' }).click()
    const text = await page.evaluate(() => navigator.clipboard.readText())
    expect(text, 'what is copied is what is shown').toBe(await figure.locator('pre').textContent())
    copied.push({ file: await figure.getAttribute('data-file'), text })
  }
  expect(copied.length).toBeGreaterThan(0)
  const shop = new Workshop()
  const { code, output } = await trade.run(shop, copied).catch(unfetched)
  expect(code, output).toBe(0)
  if (output.includes(ALONE)) console.log(`     ${test.info().title}: ${ALONE}`)
  const { items } = await server.ask<{ items: unknown[] }>(`/api/v2/mailboxes/${encodeURIComponent(box)}/messages`)
  expect(items, output).toHaveLength(1)
  shop.remove()
}

for (const [id, trade] of Object.entries(TRADES)) {
  test(`the sample for ${LABELS[id]} sends`, async ({ page, server }) => {
    able(trade.needs, trade.slow)
    await sends(id, trade, page, server)
  })
}

const certificate = { 'tls.self_signed': 'true', 'smtp.auth_required': 'true' }
const doors = {
  'after STARTTLS': { ...certificate, 'smtp.tls': 'require' },
  'under TLS from the first byte': { ...certificate, 'smtp.addr': '', 'smtps.addr': '127.0.0.1:0' },
}
for (const [how, set] of Object.entries(doors)) {
  // Those that take a certificate which the server made itself.
  for (const id of ['curl', 'swaks', 'node', 'python', 'go', 'spring'] as const) {
    test(`the sample for ${LABELS[id]} sends ${how}, signed in`, async ({ page }) => {
      const trade = TRADES[id]
      if (!trade) throw new Error(`There is no way to run ${id}.`)
      able(trade.needs, trade.slow)
      const folder = new Workshop()
      const server = await Server.start({ set: { ...set, 'tls.folder': folder.folder } })
      await sends(id, trade, page, server).finally(() => server.stop())
      folder.remove()
    })
  }
}

for (const [name, waiter] of Object.entries(WAITERS)) {
  test(`"Copy as ${name}" finds the next mail like this one`, async ({ page, server, view }) => {
    able(waiter.needs, waiter.slow)
    const box = fresh('copy')
    await send(server, reset('481920'), box)
    await page.goto(`/m/${box}/latest`)
    await expect(view.subject).toHaveText('Reset your password')
    await page.getByRole('button', { name: /Copy as/ }).click()
    await page.getByRole('menuitem', { name: new RegExp(`^${name}`) }).click()
    await expect(view.toast.first()).toBeVisible()
    const text = await page.evaluate(() => navigator.clipboard.readText())
    expect(text).toContain(box)
    const shop = new Workshop()
    await waiter.ready(shop, text).catch(unfetched)

    let over = false
    const run = waiter.run(shop, text).finally(() => (over = true))
    // It waits for what comes after its start, whenever that is.
    const sending = (async () => {
      for (let code = 100_000; !over; code += 1) {
        await send(server, reset(String(code)), box)
        await Promise.race([run, new Promise((later) => setTimeout(later, 1000))])
      }
    })()
    const { code, output } = await run
    await sending
    expect(code, output).toBe(0)
    if (name === 'curl') expect(JSON.parse(output.slice(output.indexOf('{')))).toMatchObject({ messages: [{ subject: 'Reset your password' }] })
    else expect(output).toMatch(/1 passed/)
    shop.remove()
  })
}
