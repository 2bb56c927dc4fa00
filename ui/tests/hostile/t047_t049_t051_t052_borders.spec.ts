// Where mail meets the page, one border at a time: its own origin, its links, its messages, its letters, its headers.
import { CANARIES, expect, test } from '../harness'
import { firefoxEye, launch } from './firefox'

const api = (box: string, id: string) => `/api/v2/mailboxes/${box}/messages/${id}`
const idOf = async (ask: <T>(path: string) => Promise<T>, box: string) => (await ask<{ items: { id: string }[] }>(`/api/v2/mailboxes/${box}/messages`)).items[0]?.id ?? ''

test('t039 the body alone has no origin', async ({ page, server, box, send }) => {
  await send({ subject: 'Alone', html: '<p>letters</p>' })
  const id = await idOf((path) => server.ask(path), box)
  const answer = await page.goto(`${api(box, id)}/html`)
  expect(answer?.headers()['content-security-policy']).toContain('sandbox')
  expect(answer?.headers()['content-security-policy']).not.toContain('allow-scripts')
  expect(answer?.headers()['content-security-policy']).not.toContain('allow-same-origin')
  expect(await page.evaluate(() => window.origin)).toBe('null')
})

test('t046 names in links are not looked up before anybody clicks', async ({ page, server, box, send }) => {
  await send({ subject: 'Prefetch', html: '<a href="https://prefetch.shop.test/reset">Reset your password</a>' })
  const id = await idOf((path) => server.ask(path), box)
  for (const path of ['/', `${api(box, id)}/html`]) {
    const answer = await page.goto(path)
    expect(answer?.headers()['x-dns-prefetch-control'], path).toBe('off')
  }
})

test('t047 what a mail draws stays inside its frame', async ({ page, view, box, send }) => {
  const cover = '<style>html,body,div{position:fixed;inset:-5000px;z-index:2147483647;width:99999px;height:99999px;background:#f0f}</style><div></div>'
  await send({ subject: 'Calm', html: '<p>letters</p>' })
  await send({ subject: 'Cover', html: cover })
  const around = async () => {
    const frame = await view.frame.boundingBox()
    if (!frame) throw new Error('no frame')
    return page.screenshot({ clip: { x: 0, y: 0, width: frame.x - 1, height: 900 }, mask: [view.list], animations: 'disabled' })
  }
  await page.goto(`/m/${box}`)
  await view.row('Cover').click()
  await expect(view.frame).toBeVisible()
  await view.row('Calm').click()
  await expect(view.body.getByText('letters')).toBeVisible()
  await page.mouse.move(1000, 5)
  const calm = await around()
  await view.row('Cover').click()
  await expect(view.body.locator('div')).toHaveCount(1)
  await page.mouse.move(1000, 5)
  expect((await around()).equals(calm)).toBe(true)
})

test('t048 a link that aims at the whole window opens beside it, without a way back', async ({ page, view, context, box, send, canary }) => {
  const href = `http://${CANARIES[0]}:${canary.port}/out`
  await send({ subject: 'Out', html: `<base target="_top"><a target="_top" href="${href}">leave</a>` })
  await page.goto(`/m/${box}/latest`)
  await expect(view.body.getByText('leave')).toBeVisible()
  const at = page.url()
  const [opened] = await Promise.all([context.waitForEvent('page'), view.body.getByText('leave').click()])
  await expect.poll(() => opened.url()).toBe(href)
  expect(await opened.evaluate(() => [window.opener === null, document.referrer])).toEqual([true, ''])
  expect(page.url()).toBe(at)
  await expect(view.subject).toHaveText('Out')
})

test('t049 whatever is posted to the page changes nothing', async ({ page, view, box, send }) => {
  await send({ subject: 'Quiet', html: '<p>letters</p>' })
  await page.goto(`/m/${box}/latest`)
  await expect(view.body.getByText('letters')).toBeVisible()
  const before = await view.shown()
  await page.evaluate(() => {
    const words: unknown[] = ['navigate', { type: 'navigate', href: 'javascript:1' }, { action: 'delete' }, { route: { view: 'login' } }, { height: 1e9 }, null, [], { __proto__: { x: 1 } }, '{"type":"resize","height":99999}', new ArrayBuffer(8)]
    for (const word of words) {
      window.postMessage(word, '*')
      window.dispatchEvent(new MessageEvent('message', { data: word, origin: 'null', source: document.querySelector('iframe')?.contentWindow }))
    }
  })
  await page.evaluate(() => new Promise((done) => setTimeout(done, 50)))
  expect(await view.shown()).toEqual(before)
})

test('t052 letters that turn the direction are shown as boxes', async ({ page, view, box, send }) => {
  await send({ subject: 'Invoice \u202Egpj.exe', from: '"\u202Eknab ruoY" <a@shop.test>', text: 'x', files: [{ type: 'image/jpeg', name: "x; filename*=utf-8''photo%E2%80%AEgpj.exe", data: 'x' }] })
  await page.goto(`/m/${box}`)
  await expect(view.row('Invoice ▯gpj.exe')).toBeVisible()
  await view.row('Invoice').click()
  await expect(view.subject).toHaveText('Invoice ▯gpj.exe')
  await view.tab('Parts').click()
  await expect(page.locator('[role=tabpanel]').first()).toBeVisible()
  expect(await page.locator('body').innerText()).not.toContain('\u202E')
})

test('t065 nobody frames the page, and nothing of it is told on', async ({ page }) => {
  const answer = await page.goto('/')
  const headers = answer?.headers() ?? {}
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
  expect(headers['referrer-policy']).toBe('no-referrer')
  expect(headers['x-content-type-options']).toBe('nosniff')
})

test('the page in Firefox: a mail comes, opens and is read', async ({ server, box, send }) => {
  test.setTimeout(120_000)
  const browser = await launch()
  try {
    const { page } = await firefoxEye(browser, server.url)
    const errors: string[] = []
    page.on('pageerror', (fault) => errors.push(String(fault)))
    await page.goto(`${server.url}/m/${box}`)
    await page.waitForFunction(() => document.body.innerText.includes('Live'))
    await send({ subject: 'In Firefox', text: 'x', html: '<p>letters</p>' })
    await page.waitForFunction(() => document.querySelector('article h2')?.textContent === 'In Firefox')
    await page.waitForFunction(() => document.querySelector('article iframe') !== null)
    await page.keyboard.press('2')
    await page.waitForFunction(() => location.pathname.endsWith('/text'))
    expect(errors).toEqual([])
  } finally {
    await browser.close()
  }
})
