// Facts 1, 2, 5, 7, 10: how mail comes onto the screen.
import { address, expect, flood, mail, person, reset, sendMany, test } from '../harness'

test('fact 01: a mail that is sent is there without reload', async ({ page, view, box, send }) => {
  await send({ subject: 'The first', text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.row('The first')).toBeVisible()
  await view.live()
  await page.evaluate(() => Object.assign(window, { sameDocument: true }))
  await send({ subject: 'The second', text: 'Words of the second' })
  await expect(view.row('The second')).toBeVisible()
  await expect(view.row('The second')).toContainText('Words of the second')
  expect((await view.texts())[0]).toContain('The second')
  expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true)
})

test('fact 01: it stands in all mail and in the count of its mailbox too', async ({ page, view, box, send }) => {
  await page.goto('/')
  await view.live()
  await send({ subject: `For all of ${box}`, text: 'x' })
  await expect(view.row(`For all of ${box}`)).toBeVisible()
  await expect(view.row(`For all of ${box}`)).toContainText(box)
  await expect(page.getByRole('navigation').getByRole('link', { name: box })).toBeVisible()
})

test('fact 02: the first mail of an empty mailbox opens itself, the second does not', async ({ page, view, box, send }) => {
  await page.goto(`/m/${box}`)
  await expect(page.getByText(`Waiting for mail to ${box}`).filter({ visible: true })).toHaveCount(1)
  await view.live()
  await send(reset('481920'))
  await expect(view.subject).toHaveText('Reset your password')
  await expect(page).toHaveURL(new RegExp(`/m/${box}/[^/?]+$`))
  await send({ subject: 'Another', text: 'x' })
  await expect(view.row('Another')).toBeVisible()
  await expect(view.subject).toHaveText('Reset your password')
})

test('fact 05: latest swaps to new mail, width and theme stay', async ({ browser, server, box, send }) => {
  const { context, page, view } = await person(browser, { colorScheme: null, baseURL: server.url })
  await send(reset('111222', 'The older'))
  await page.goto(`/m/${box}/latest`)
  await expect(view.subject).toHaveText('The older')
  await view.choice('360').click()
  await view.choice('Dark').click()
  await expect(view.body.locator('body')).toHaveCSS('background-color', 'rgb(16, 16, 20)')
  await view.live()
  await send(reset('333444', 'The newer'))
  await expect(view.subject).toHaveText('The newer')
  await expect(page).toHaveURL(new RegExp(`/m/${box}/latest$`))
  await expect(view.body.locator('b')).toHaveText('333444')
  await expect(view.body.locator('body')).toHaveCSS('background-color', 'rgb(16, 16, 20)')
  expect(Math.round((await view.frame.boundingBox())?.width ?? 0)).toBe(360)
  await context.close()
})

/** Watches rows each frame, and tells how far the one in the middle ever was from where it stood. */
const watchMiddle = (element: Element) => {
  const middle = element.getBoundingClientRect().top + element.clientHeight / 2
  const rows = [...element.querySelectorAll('[aria-posinset]')]
  const at = rows.find((row) => row.getBoundingClientRect().top <= middle && row.getBoundingClientRect().bottom >= middle)
  const text = at?.textContent ?? ''
  const watch = { text, from: at?.getBoundingClientRect().top ?? NaN, most: 0, lost: 0, frames: 0 }
  Object.assign(window, { watch })
  const look = () => {
    const row = [...element.querySelectorAll('[aria-posinset]')].find((one) => one.textContent === text)
    watch.frames++
    if (row) watch.most = Math.max(watch.most, Math.abs(row.getBoundingClientRect().top - watch.from))
    else watch.lost++
    requestAnimationFrame(look)
  }
  look()
}
type Watch = { text: string; most: number; lost: number; frames: number }

test('fact 07: 1,000 arrivals move a scrolled list by 0 px', async ({ page, view, box, server }) => {
  await sendMany(server, box, 300, 'Before')
  await page.goto(`/m/${box}`)
  await expect(view.row('Before 299')).toBeVisible()
  await view.live()
  await view.scrollTo(1400)
  const middle = (await view.texts())[10] ?? ''
  await expect(view.rows.filter({ hasText: middle.slice(0, 12) }).first()).toBeVisible()
  // Texts of visible rows come in after scrolling; only then is a row the same from frame to frame.
  await expect.poll(async () => (await view.texts()).filter((text) => text.includes('Words of letter')).length).toBeGreaterThan(10)
  await (await view.scroller()).evaluate(watchMiddle)
  await sendMany(server, box, 1000, 'After', { rate: 500 })
  await expect(view.list.getByRole('button', { name: /1,000 new/ })).toBeVisible({ timeout: 20_000 })
  const watch = await page.evaluate(() => (window as unknown as { watch: Watch }).watch)
  expect(watch.frames).toBeGreaterThan(20)
  expect(watch, 'a row that moved').toMatchObject({ most: 0, lost: 0 })
  await view.list.getByRole('button', { name: /1,000 new/ }).click()
  await expect(view.row('After 999')).toBeVisible()
})

test('fact 07: a pointer that moves over the list holds it, one that rests does not', async ({ page, view, box, server, send }) => {
  await sendMany(server, box, 30, 'Before', { connections: 1 })
  await page.goto(`/m/${box}`)
  await expect(view.row('Before 29')).toBeVisible()
  await view.live()
  const from = (await view.row('Before 25').boundingBox())?.y ?? 0
  const moving = { on: true }
  const hand = (async () => {
    for (let n = 0; moving.on; n++) await page.mouse.move(400 + (n % 20), from + 20)
  })()
  await send({ subject: 'While moving', text: 'x' })
  await expect(view.list.getByRole('button', { name: /1 new/ })).toBeVisible()
  expect((await view.row('Before 25').boundingBox())?.y).toBe(from)
  moving.on = false
  await hand
  await view.list.getByRole('button', { name: /1 new/ }).click()
  await expect(view.row('While moving')).toBeVisible()
  await page.mouse.move(1000, 500)
  await send({ subject: 'While resting', text: 'x' })
  await expect(view.row('While resting')).toBeVisible()
  expect((await view.texts())[0]).toContain('While resting')
})

test('fact 07: a focused row holds the list too', async ({ page, view, box, server, send }) => {
  await sendMany(server, box, 30, 'Before', { connections: 1 })
  await page.goto(`/m/${box}`)
  await expect(view.row('Before 29')).toBeVisible()
  await view.live()
  const row = view.row('Before 25')
  await row.getByRole('link').or(row.locator('xpath=self::a')).first().focus()
  const from = (await row.boundingBox())?.y
  await send({ subject: 'While focused', text: 'x' })
  await expect(view.list.getByRole('button', { name: /1 new/ })).toBeVisible()
  expect((await row.boundingBox())?.y).toBe(from)
})

test('fact 10: mails of one second stand in order of arrival', async ({ page, view, box, server }) => {
  const date = new Date().toUTCString().replace('GMT', '+0000')
  const make = (n: number) => ({ to: [address(box)], data: mail({ subject: `Number ${n};`, date, text: 'x' }) })
  const order = Array.from({ length: 12 }, (_, n) => `Number ${11 - n};`)
  const seen = async () => (await view.texts()).map((text) => /Number \d+;/.exec(text)?.[0])
  await page.goto(`/m/${box}`)
  await view.live()
  await flood(server.smtpPort, { count: 12, connections: 1, make })
  await expect.poll(seen).toEqual(order)
  await page.goto(`/m/${box}`)
  await expect.poll(seen).toEqual(order)
})
