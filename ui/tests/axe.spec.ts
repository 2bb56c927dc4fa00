// Fact 19, the part that a program can tell: axe finds nothing on any address, in both themes, narrow and wide. No exceptions.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { expect, leaving, person, Relay, reset, send, Server, test, type View } from './harness'
import { filled, stops, type Stop } from './harness/views'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const looks = (['light', 'dark'] as const).flatMap((theme) => [390, 1440].map((width) => ({ theme, width })))
const house = filled()

/** What it finds in the page itself; the body of a mail is its sender's. */
async function found(view: View): Promise<string[]> {
  await view.page.evaluate(source)
  const results = await view.page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: (context: object, options: object) => Promise<AxeResults> } }
    return axe.run({ exclude: ['iframe'] }, { resultTypes: ['violations'], iframes: false })
  })
  return results.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(' ')} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`))
}

for (const { theme, width } of looks) {
  test(`fact 19: axe finds nothing, ${theme}, ${width} px`, async ({ browser }) => {
    test.setTimeout(180_000)
    // The page's policy lets no foreign script in, which axe is; what is judged is the same document.
    const { context, page, view } = await person(browser, { colorScheme: theme, viewport: { width, height: 900 }, reducedMotion: 'reduce', bypassCSP: true })
    const faults: Record<string, string[]> = {}
    for (const stop of stops(house.ids)) {
      await page.goto(house.server.url + stop.path)
      await settled(stop, view)
      const now = await found(view)
      if (now.length) faults[stop.name] = now
    }
    expect(faults).toEqual({})
    await context.close()
  })

  test(`fact 19: axe finds nothing in what opens, ${theme}, ${width} px`, async ({ browser }) => {
    const { context, page, view } = await person(browser, { colorScheme: theme, viewport: { width, height: 900 }, reducedMotion: 'reduce', bypassCSP: true, baseURL: house.server.url })
    const faults: Record<string, string[]> = {}
    const look = async (name: string) => {
      const now = await found(view)
      if (now.length) faults[name] = now
    }
    await page.goto('/m/ben')
    await expect(view.row('Reset your password')).toBeVisible()
    await page.keyboard.press('Control+k')
    await expect(page.getByRole('dialog')).toBeVisible()
    await look('palette')
    await page.keyboard.press('Escape')
    await page.keyboard.press('x')
    await look('selection')
    await page.goto('/m/ben/latest')
    await expect(view.article.getByRole('button', { name: 'Copy', exact: true })).toBeVisible()
    await page.keyboard.press('c')
    await expect(view.toast.first()).toBeVisible()
    await look('toast')
    await view.article.getByRole('button', { name: 'Details' }).click()
    await look('details')
    await page.keyboard.press('Escape')
    for (const menu of ['Copy as', 'more link']) {
      const button = view.article.getByRole('button', { name: new RegExp(menu) }).first()
      if (!(await button.isVisible())) continue
      await button.click()
      await look(menu)
      await page.keyboard.press('Escape')
    }
    expect(faults).toEqual({})
    await context.close()
  })
}

for (const theme of ['light', 'dark'] as const) {
  test(`fact 19: axe finds nothing on faults in force and a release, ${theme}`, async ({ browser }) => {
    const relay = await Relay.start({ gone: '550 5.1.1 No such user here' })
    const server = await Server.start({ set: leaving(relay) })
    await send(server, reset('481920'), 'ben')
    for (const asked of [{ mailbox: 'ben', reply: { code: 451 }, first: 1 }, { sender: '@shop.test', delay: '1s', note: 'slow' }]) await server.ask('/api/v2/faults', { method: 'POST', body: JSON.stringify(asked) })
    for (const width of [390, 1440]) {
      const { context, page, view } = await person(browser, { colorScheme: theme, viewport: { width, height: 900 }, reducedMotion: 'reduce', bypassCSP: true, baseURL: server.url })
      await page.goto('/m/ben/latest')
      await expect(view.tab('Source')).toBeVisible()
      await expect(page.getByRole('region', { name: 'Faults' })).toContainText('2 faults in force')
      expect(await found(view), 'banner').toEqual([])
      await page.keyboard.press('r')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Recipients').fill('qa@example.com, gone@example.com')
      await page.keyboard.press('Enter')
      await expect(dialog.getByText('Not sent').first()).toBeVisible()
      await dialog.getByLabel('Recipients').fill('no')
      await page.keyboard.press('Enter')
      await expect(dialog.getByRole('alert')).toContainText('no')
      expect(await found(view), 'release').toEqual([])
      await page.goto('/faults')
      await expect(page.getByRole('listitem').filter({ hasText: '451' })).toBeVisible()
      expect(await found(view), 'faults').toEqual([])
      await context.close()
    }
    await server.stop()
    relay.stop()
  })

  test(`fact 19: axe finds nothing on the public entry and the login, ${theme}`, async ({ browser }) => {
    const [open, closed] = [await Server.start({ mode: 'public' }), await Server.start({ mode: 'token' })]
    for (const width of [390, 1440]) {
      const { context, page, view } = await person(browser, { colorScheme: theme, viewport: { width, height: 900 }, reducedMotion: 'reduce', bypassCSP: true })
      await page.goto(open.url)
      await expect(page.getByRole('heading', { name: 'Open a mailbox' })).toBeVisible()
      expect(await found(view), 'entry').toEqual([])
      await page.goto(`${open.url}/m/somebody`)
      await expect(page.getByText('Waiting for mail to somebody').filter({ visible: true })).toHaveCount(1)
      expect(await found(view), 'public mailbox').toEqual([])
      await page.goto(closed.url)
      await expect(page.getByRole('heading', { name: /Sign in/ }).first()).toBeVisible()
      expect(await found(view), 'login').toEqual([])
      await context.close()
    }
    await open.stop()
    await closed.stop()
  })
}

/** The view is whole; at 390 px a list may be behind its message and the other way round, so what is asked is only that it is there. */
async function settled(stop: Stop, view: View): Promise<void> {
  await stop.ready(view.page).catch((fault: unknown) => {
    throw new Error(`${stop.name} (${stop.path}) was not shown: ${String(fault)}`)
  })
}
