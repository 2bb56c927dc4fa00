// Forty pictures and more for a person to look at, in `out/look/`: views, widths, themes, other letters, other words, states.
import type { Browser, BrowserContextOptions } from '@playwright/test'
import { expect, leaving, person, Relay, reset, send, Server, test, type View } from './harness'
import { fill, stops } from './harness/views'

const folder = 'tests/out/look'
let [server, open, closed]: (Server | undefined)[] = []
let ids: Record<string, string>
test.beforeAll(async () => {
  server = await Server.start({ set: { 'http.label': 'staging-eu' } })
  open = await Server.start({ mode: 'public', set: { 'mailbox.retention': '24h' } })
  closed = await Server.start({ mode: 'token' })
  ids = await fill(server)
})
test.afterAll(async () => {
  for (const one of [server, open, closed]) await one?.stop()
})

const sizes = { wide: { width: 1440, height: 900 }, middle: { width: 1024, height: 768 }, narrow: { width: 390, height: 844 } } as const
type Size = keyof typeof sizes
type Theme = 'light' | 'dark'

async function shoot(browser: Browser, name: string, size: Size, theme: Theme, act: (view: View) => Promise<void>, prepare: Record<string, string> = {}): Promise<void> {
  const options: BrowserContextOptions = { viewport: sizes[size], colorScheme: null, reducedMotion: 'reduce', baseURL: server?.url, hasTouch: size === 'narrow' }
  const { context, page, view } = await person(browser, options)
  // By the page's own setting: emulation would reach into the body of the mail too.
  const prefs = JSON.stringify({ theme, ...(JSON.parse(prepare['postkeep.prefs'] ?? '{}') as object) })
  await page.addInitScript((kept) => Object.entries(kept).forEach(([key, value]) => localStorage.setItem(key, value)), { ...prepare, 'postkeep.prefs': prefs })
  await act(view)
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png`, animations: 'disabled', caret: 'hide' })
  await context.close()
}

const seen: [string, Size, Theme][] = [
  ['all', 'wide', 'light'], ['all', 'wide', 'dark'], ['all', 'middle', 'light'], ['all', 'narrow', 'light'], ['all', 'narrow', 'dark'],
  ['mailbox', 'wide', 'light'], ['mailbox', 'narrow', 'dark'], ['message', 'wide', 'light'], ['message', 'wide', 'dark'], ['message', 'middle', 'light'], ['message', 'narrow', 'light'], ['message', 'narrow', 'dark'],
  ['blind', 'wide', 'light'], ['blind', 'narrow', 'dark'], ['text', 'wide', 'light'], ['headers', 'wide', 'light'], ['source', 'wide', 'dark'], ['parts', 'wide', 'light'], ['parts', 'narrow', 'light'],
  ['empty', 'wide', 'light'], ['empty', 'narrow', 'light'], ['search', 'wide', 'light'], ['nohits', 'wide', 'light'], ['gone', 'wide', 'light'], ['monitor', 'wide', 'light'], ['connect', 'wide', 'light'], ['connect', 'narrow', 'dark'], ['faults', 'wide', 'dark'], ['faults', 'narrow', 'light'],
  ['help', 'wide', 'light'], ['unknown', 'wide', 'light'],
]
for (const [name, size, theme] of seen) {
  test(`look: ${name}, ${size}, ${theme}`, async ({ browser }) => {
    const stop = stops(ids).find((one) => one.name === name)
    await shoot(browser, name, size, theme, async ({ page }) => {
      await page.goto(stop?.path ?? '/')
      await stop?.ready(page)
    })
  })
}

const message = async ({ page, subject }: View) => {
  await page.goto(`/m/ben/${ids.ben}`)
  await expect(subject).toHaveText('Reset your password')
}

test('look: other words, other letters, other direction', async ({ browser }) => {
  await shoot(browser, 'pseudo', 'wide', 'light', message, { 'postkeep.language': 'pseudo' })
  await shoot(browser, 'pseudo', 'narrow', 'light', message, { 'postkeep.language': 'pseudo' })
  await shoot(browser, 'compact', 'wide', 'light', message, { 'postkeep.prefs': '{"density":"compact"}' })
  for (const size of ['wide', 'narrow'] as const) {
    await shoot(browser, 'rtl', size, 'light', async (view) => {
      await message(view)
      await view.page.evaluate(() => (document.documentElement.dir = 'rtl'))
    })
  }
})

test('look: what opens and what goes wrong', async ({ browser }) => {
  await shoot(browser, 'palette', 'wide', 'light', async (view) => {
    await message(view)
    await view.page.keyboard.press('Control+k')
    await expect(view.page.getByRole('dialog')).toBeVisible()
  })
  await shoot(browser, 'details', 'wide', 'dark', async (view) => {
    await message(view)
    await view.article.getByRole('button', { name: 'Details' }).click()
  })
  await shoot(browser, 'dark-mail', 'wide', 'light', async (view) => {
    await message(view)
    await view.choice('Dark').click()
  })
  await shoot(browser, 'deleted', 'narrow', 'light', async (view) => {
    await view.page.goto('/m/anna')
    await view.row('nightly.sh').click()
    await expect(view.subject).toHaveText('nightly.sh: exit 1')
    await view.page.keyboard.press('#')
    await expect(view.toast).toBeVisible()
  })
  await shoot(browser, 'lost', 'wide', 'light', async (view) => {
    await message(view)
    await view.page.route('**/api/**', (route) => route.abort())
    await view.page.goto('/m/ben')
    await expect(view.page.getByText(/does not answer/).first()).toBeVisible()
  })
})

test('look: faults in force, and a message that is released', async ({ browser }) => {
  const relay = await Relay.start({ gone: '550 5.1.1 No such user here', later: '451 4.7.1 Greylisted' })
  const leaves = await Server.start({ set: leaving(relay) })
  await send(leaves, reset('481920'), 'ben')
  const plans = [{ mailbox: 'ben', reply: { code: 451, enhanced: '4.3.0', text: 'Try again later' }, first: 2, note: 'greylisting of the sign-up test' }, { sender: '@shop.test', stage: 'data', delay: '2s', percent: 30, seed: 7 }]
  for (const plan of plans) await leaves.ask('/api/v2/faults', { method: 'POST', body: JSON.stringify(plan) })
  for (const [size, theme] of [['wide', 'light'], ['narrow', 'dark']] as const) {
    await shoot(browser, 'banner', size, theme, async ({ page, subject }) => {
      await page.goto(`${leaves.url}/m/ben/latest`)
      await expect(subject).toHaveText('Reset your password')
      await expect(page.getByRole('region', { name: 'Faults' })).toContainText('2 faults')
    })
    await shoot(browser, 'plans', size, theme, async ({ page }) => {
      await page.goto(`${leaves.url}/faults`)
      await expect(page.getByText('greylisting')).toBeVisible()
    })
    await shoot(browser, 'release', size, theme, async (view) => {
      const { page } = view
      await page.goto(`${leaves.url}/m/ben/latest`)
      await expect(view.tab('Source')).toBeVisible()
      await page.keyboard.press('r')
      await page.getByLabel('Recipients').fill('qa@example.com, gone@example.com, later@example.com')
      await page.keyboard.press('Enter')
      await expect(page.getByText('Greylisted').first()).toBeVisible()
    })
  }
  await leaves.stop()
  relay.stop()
})

test('look: public and signed out', async ({ browser }) => {
  for (const size of ['wide', 'narrow'] as const) {
    await shoot(browser, 'entry', size, 'light', async ({ page }) => {
      await page.goto(open?.url ?? '')
      await expect(page.getByRole('heading', { name: 'Open a mailbox' })).toBeVisible()
    })
  }
  await shoot(browser, 'login', 'wide', 'light', async ({ page }) => {
    await page.goto(closed?.url ?? '')
    await expect(page.getByRole('heading', { name: /Sign in/ }).first()).toBeVisible()
  })
})
