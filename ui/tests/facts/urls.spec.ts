// Fact 6: a URL is a view: pasted elsewhere it shows the same. And what Back brings back.
import { deliver, expect, mail, person, reset, test, View, type Server } from '../harness'
import type { Page } from '@playwright/test'

const newest = async (server: Server, box: string): Promise<string> =>
  (await server.ask<{ items: { id: string }[] }>(`/api/v2/mailboxes/${encodeURIComponent(box)}/messages`)).items[0]?.id ?? ''

test('fact 06: each address, pasted elsewhere, shows the same', async ({ browser, page, view, server, box, send }) => {
  test.setTimeout(120_000)
  await send(reset('481920'))
  await send({ subject: 'Receipt 9009', text: 'Thanks Ben' })
  const id = await newest(server, box)
  const paths = [
    `/m/${box}`, `/m/${box}?q=Receipt`, `/m/${box}/${id}`, ...['text', 'headers', 'source', 'parts'].map((tab) => `/m/${box}/${id}/${tab}`),
    `/m/${box}/latest`, `/m/${box}/${id}?in=all`, `/m/${box}/${id}?in=all&q=Receipt`, `/m/${box}/${id}?q=Receipt`, '/monitor', '/faults', '/connect', '/help', '/login', '/?q=Receipt',
  ]
  for (const path of paths) {
    const settled = async (at: Page) => {
      await at.goto(server.url + path)
      await expect(at.getByRole('heading').first()).toBeVisible()
      if (path.includes(id) || path.endsWith('latest')) await expect(new View(at).subject).toHaveText('Receipt 9009')
      if (path.startsWith(`/m/${box}`)) await expect(new View(at).row('Receipt 9009').first()).toBeVisible()
      await at.waitForLoadState('load')
    }
    await settled(page)
    const other = await person(browser)
    await settled(other.page)
    const mine = await view.shown()
    await expect.poll(() => other.view.shown(), path).toEqual(mine)
    expect(mine.url, 'the address stays as it was pasted').toBe(server.url + path)
    await other.context.close()
  }
})

test('fact 06: what clicks lead to is the address that shows it', async ({ browser, page, view, box, send }) => {
  await send({ subject: 'Older', text: 'x' })
  await send(reset('481920'))
  await page.goto(`/m/${box}`)
  await view.row('Older').click()
  await expect(view.subject).toHaveText('Older')
  await view.tab('Headers').click()
  await expect(page).toHaveURL(/\/headers$/)
  const other = await person(browser)
  await other.page.goto(page.url())
  await expect(other.view.subject).toHaveText('Older')
  await expect(other.view.tab('Headers')).toHaveAttribute('aria-selected', 'true')
  await expect(other.page).toHaveTitle(/Older – /)
  await other.context.close()
})

test('fact 06: Back restores message, tab and place; j and k leave no trail', async ({ page, view, box, server, send }) => {
  for (let n = 0; n < 60; n++) await send({ subject: `Mail ${n};`, text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.row('Mail 59;')).toBeVisible()
  await view.scrollTo(900)
  const top = await (await view.scroller()).evaluate((element) => element.scrollTop)
  await view.row('Mail 40;').click()
  await expect(view.subject).toHaveText('Mail 40;')
  await view.tab('Source').click()
  await page.keyboard.press('j')
  await expect(view.subject).toHaveText('Mail 39;')
  await page.keyboard.press('j')
  await expect(view.subject).toHaveText('Mail 38;')
  await page.keyboard.press('?')
  await expect(page).toHaveURL(`${server.url}/help`)
  await page.goBack()
  await expect(view.subject).toHaveText('Mail 38;')
  await page.goBack()
  await page.goBack()
  await expect(page).toHaveURL(`${server.url}/m/${box}`)
  await expect.poll(async () => Math.abs((await (await view.scroller()).evaluate((element) => element.scrollTop)) - top)).toBeLessThan(60)
})

test('fact 06: names with odd letters survive the address bar', async ({ page, view, server }) => {
  for (const name of ["o'neil", 'a.b-c_d', 'a&b=c', 'x?y', '50%', 'a/b']) {
    await deliver(server.smtpPort, { to: [`${name}@customers.test`], data: mail({ subject: `For ${name}`, text: 'x' }) })
    await page.goto(`/m/${encodeURIComponent(name)}`)
    await view.row(`For ${name}`).click()
    await expect(view.subject).toHaveText(`For ${name}`)
    await page.reload()
    await expect(view.subject).toHaveText(`For ${name}`)
  }
})
