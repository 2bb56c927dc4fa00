// Facts 21, 22: servers that go and come, networks that go silent, and more tabs than a browser has connections.
import type { Page } from '@playwright/test'
import { expect, fresh, Proxy, send, sendMany, Server, test, View } from '../harness'

test('fact 21: server killed and back: said in 35 s, nothing missing', async ({ page, view }) => {
  const server = await Server.start({ engine: 'disk' })
  const box = fresh()
  await sendMany(server, box, 3, 'Before', { connections: 1 })
  await page.goto(`${server.url}/m/${box}`)
  await expect(view.rows).toHaveCount(3)
  await view.live()
  await server.kill()
  await expect(page.getByText(/Reconnecting|Offline/).first()).toBeVisible({ timeout: 35_000 })
  await server.again()
  // Before the page is back, and after.
  await sendMany(server, box, 5, 'While away', { connections: 1 })
  await view.live()
  await send(server, { subject: 'Afterwards', text: 'x' }, box)
  await expect(view.row('Afterwards').first()).toBeVisible({ timeout: 20_000 })
  const subjects = async () => (await view.texts()).map((text) => /(Afterwards|While away \d|Before \d)/.exec(text)?.[0])
  const all = ['Afterwards', ...[4, 3, 2, 1, 0].map((n) => `While away ${n}`), ...[2, 1, 0].map((n) => `Before ${n}`)]
  await expect.poll(subjects).toEqual(all)
  await server.stop()
})

test('fact 21: a network that goes silent is noticed in 35 s and caught up with', async ({ page, view, server, box, send: deliver }) => {
  const proxy = await Proxy.start(() => server.url, { keepHost: true })
  await page.clock.install()
  await deliver({ subject: 'Before', text: 'x' })
  await page.goto(`http://127.0.0.1:${proxy.port}/m/${box}`)
  await expect(view.row('Before')).toBeVisible()
  await view.live()
  proxy.silence()
  await deliver({ subject: 'In the dark', text: 'x' })
  await page.clock.runFor(36_000)
  await expect(page.getByText(/Reconnecting|Offline|Connecting/).first()).toBeVisible()
  await expect(view.row('In the dark')).toHaveCount(0)
  proxy.back()
  await expect(async () => {
    await page.clock.runFor(16_000)
    await expect(view.row('In the dark')).toHaveCount(1, { timeout: 1000 })
  }).toPass()
  await view.live()
  proxy.stop()
})

/** A browser without a screen takes every tab for looked at: here it is told which one is. */
const look = (page: Page, seen: boolean) =>
  page.evaluate((isSeen) => {
    if (document.hidden === !isSeen) return
    Object.defineProperties(document, { hidden: { get: () => !isSeen, configurable: true }, visibilityState: { get: () => (isSeen ? 'visible' : 'hidden'), configurable: true } })
    document.dispatchEvent(new Event('visibilitychange'))
  }, seen)

test('fact 22: seven tabs over HTTP/1 are all live', async ({ context, server }) => {
  const boxes = Array.from({ length: 7 }, () => fresh('tab'))
  const tabs: { page: Page; view: View; box: string }[] = []
  for (const box of boxes) {
    await send(server, { subject: 'Before', text: 'x' }, box)
    const page = await context.newPage()
    for (const other of tabs) await look(other.page, false)
    await page.goto(`${server.url}/m/${box}`)
    const view = new View(page)
    await expect(view.row('Before'), `tab ${tabs.length + 1}`).toBeVisible()
    await view.live()
    tabs.push({ page, view, box })
  }
  for (const { box } of tabs) await send(server, { subject: 'To every tab', text: 'x' }, box)
  for (const [number, { page, view }] of tabs.entries()) {
    for (const other of tabs) await look(other.page, other.page === page)
    await expect(view.row('To every tab'), `tab ${number + 1} is up to date once it is looked at`).toBeVisible()
    await view.live()
    await view.row('To every tab').click()
    await expect(view.subject, 'and can be read').toHaveText('To every tab')
  }
})
