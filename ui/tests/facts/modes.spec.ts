// Facts 23, 25: the public server, and the server behind a proxy, under a prefix or far away on plain http.
import type { Page } from '@playwright/test'
import { AFAR, clipboard, expect, fresh, Proxy, reset, send, Server, test, View } from '../harness'

test('fact 23: public: no list of mailboxes, the warning in sight', async ({ page, view }) => {
  const server = await Server.start({ mode: 'public', set: { 'mailbox.retention': '24h' } })
  const [mine, theirs] = [fresh('mine'), fresh('theirs')]
  await send(server, { subject: 'For them', text: 'x' }, theirs)
  await send(server, reset('481920'), mine)
  await page.goto(server.url)
  await expect(page.getByText(/Anyone who knows the name can read its mail/)).toBeVisible()
  await expect(page.getByText(/24 hours|1 day/).first()).toBeVisible()
  await expect(page.getByText(theirs)).toHaveCount(0)
  await expect(view.rows).toHaveCount(0)
  expect((await fetch(`${server.url}/api/v2/mailboxes`)).status).toBeGreaterThanOrEqual(401)

  await page.locator('main').getByRole('textbox').first().fill(mine)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${server.url}/m/${mine}`)
  await view.row('Reset your password').click()
  await expect(view.subject).toHaveText('Reset your password')
  await expect(page.getByRole('button', { name: /^Delete/ })).toHaveCount(0)
  const rail = page.getByRole('navigation').first()
  await expect(rail.getByRole('link', { name: mine })).toBeVisible()
  await expect(page.getByText(theirs)).toHaveCount(0)
  await rail.getByRole('button', { name: 'Forget these' }).click()
  await expect(rail.getByRole('link', { name: mine })).toHaveCount(0)
  await server.stop()
})

test('fact 23: public: a name nobody can guess', async ({ page }) => {
  const server = await Server.start({ mode: 'public' })
  await page.goto(server.url)
  const names = new Set<string>()
  for (let n = 0; n < 3; n++) {
    await page.getByRole('button', { name: 'Give me a name nobody can guess' }).click()
    const name = (await page.locator('main').getByRole('textbox').first().inputValue()) || decodeURIComponent(new URL(page.url()).pathname.slice(3))
    expect(name.replaceAll('-', '')).toMatch(/^[a-z0-9]{13}$/)
    names.add(name)
    await page.goto(server.url)
  }
  expect(names.size).toBe(3)
  await server.stop()
})

/** What must hold wherever the page is: reading, copying, live mail, pasted addresses, deleting. */
async function allThis(page: Page, root: string, server: Server, secure: boolean): Promise<void> {
  const view = new View(page)
  const box = fresh('afar')
  await send(server, reset('481920'), box)
  await page.goto(`${root}/m/${box}`)
  await view.row('Reset your password').click()
  await expect(view.body.locator('b')).toHaveText('481920')
  expect(page.url().startsWith(`${root}/m/${box}/`)).toBe(true)
  await page.keyboard.press('c')
  await expect(view.toast.last()).toContainText(/481920|code/i)
  if (secure) expect(await clipboard(page)).toBe('481920')
  else {
    await page.keyboard.press('/')
    await page.keyboard.press('Control+v')
    await expect(view.field).toHaveValue('481920')
    await page.keyboard.press('Escape')
    await page.goto(`${root}/m/${box}/latest`)
    await expect(view.subject).toHaveText('Reset your password')
  }
  await view.live()
  await send(server, { subject: 'Live here too', text: 'x' }, box)
  await expect(view.row('Live here too')).toBeVisible()
  await view.row('Live here too').click()
  await expect(view.subject).toHaveText('Live here too')
  await view.tab('Source').click()
  await page.reload()
  await expect(view.tab('Source')).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('#')
  await expect(view.row('Live here too')).toHaveCount(0)
  await page.goto('about:blank')
  await expect.poll(async () => (await server.ask<{ items: unknown[] }>(`/api/v2/mailboxes/${box}/messages`)).items.length).toBe(1)
  for (const path of ['monitor', 'connect', 'help']) {
    await page.goto(`${root}/${path}`)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
  }
}

test.describe('fact 25', () => {
  test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

  test('fact 25: under a prefix behind a proxy all this holds', async ({ page }) => {
    const running: { server?: Server } = {}
    const proxy = await Proxy.start(() => running.server?.url ?? '', { prefix: '/mail/pk' })
    const root = `http://127.0.0.1:${proxy.port}/mail/pk`
    running.server = await Server.start({ set: { 'http.public_url': root, 'http.trusted_proxies': '127.0.0.1' } })
    const strays: string[] = []
    page.on('response', (response) => response.url().startsWith('http') && !response.url().startsWith(root) && strays.push(response.url()))
    await allThis(page, root, running.server, true)
    await page.goto(`${root}/`)
    await page.getByRole('link', { name: /Connect an app/ }).first().click()
    await expect(page).toHaveURL(`${root}/connect`)
    expect(strays).toEqual([])
    await running.server.stop()
    proxy.stop()
  })
})

test('fact 25: on plain http from afar, signed in, all this holds', async ({ page }) => {
  const server = await Server.start({ mode: 'token' })
  const root = `http://${AFAR}:${server.httpPort}`
  await page.goto(`${root}/m/ben`)
  await expect(page.getByRole('heading', { name: /Sign in/ }).first()).toBeVisible()
  await page.locator('main').getByRole('textbox').or(page.locator('main input[type=password]')).first().fill(server.token)
  await page.keyboard.press('Enter')
  await expect(page, 'and then back here').toHaveURL(`${root}/m/ben`)
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false)
  await page.getByRole('button', { name: 'Open on a phone' }).click()
  await expect(page.getByRole('img', { name: `QR code of ${root}/m/ben` })).toBeVisible()
  await allThis(page, root, server, false)
  await server.stop()
})

test('fact 25: a wrong token is told, a right one in the address vanishes from it', async ({ page, view }) => {
  const server = await Server.start({ mode: 'token' })
  await page.goto(`${server.url}/login`)
  await page.locator('main').getByRole('textbox').or(page.locator('main input[type=password]')).first().fill('pkt_wrong_wrong')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert').first()).toBeVisible()
  const inbox = await server.ask<{ address: string; mailbox: string; token: string }>('/api/v2/inboxes', { method: 'POST', body: '{"label":"signup"}' })
  const secret = JSON.stringify(inbox).match(/pki_[^"]+/)?.[0] ?? ''
  expect(secret).not.toBe('')
  await page.goto('about:blank')
  await page.goto(`${server.url}/m/${encodeURIComponent(inbox.mailbox)}#key=${secret}`)
  await expect(page).toHaveURL(`${server.url}/m/${encodeURIComponent(inbox.mailbox)}`)
  await view.live()
  await server.stop()
})
