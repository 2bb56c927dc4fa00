// Facts 17, 26: deleting can be taken back, leaving completes it, and nobody's view is another's business.
import { expect, fresh, person, reset, send as deliverTo, sendMany, test, type Server } from '../harness'

const count = async (server: Server, box: string): Promise<number> =>
  (await server.ask<{ items: unknown[] }>(`/api/v2/mailboxes/${encodeURIComponent(box)}/messages`)).items.length

test('fact 17: undo works for 8 s', async ({ page, view, box, server, send }) => {
  await send({ subject: 'Stays', text: 'x' })
  await send({ subject: 'Goes', text: 'x' })
  await page.goto(`/m/${box}`)
  await view.row('Goes').click()
  await page.keyboard.press('#')
  await expect(view.row('Goes')).toHaveCount(0)
  await expect(view.toast).toContainText('1 message deleted')
  const begin = performance.now()
  await expect.poll(() => performance.now() - begin, { timeout: 10_000, intervals: [250] }).toBeGreaterThan(7_000)
  expect(await count(server, box), 'nothing is deleted before its time').toBe(2)
  await view.toast.getByRole('button', { name: 'Undo' }).click()
  await expect(view.row('Goes')).toBeVisible()

  await view.row('Goes').click()
  await page.keyboard.press('Delete')
  await page.mouse.move(0, 0)
  await expect.poll(() => count(server, box), { timeout: 12_000 }).toBe(1)
  await expect(view.row('Stays')).toBeVisible()
  await expect(view.toast).toHaveCount(0)
})

test('fact 17: z takes it back', async ({ page, view, box, send }) => {
  await send({ subject: 'Comes back', text: 'x' })
  await page.goto(`/m/${box}`)
  await view.row('Comes back').click()
  await page.keyboard.press('#')
  await expect(view.row('Comes back')).toHaveCount(0)
  await page.keyboard.press('z')
  await expect(view.row('Comes back')).toBeVisible()
})

test('fact 17: the time stands still while one points at the toast', async ({ page, view, box, server, send }) => {
  await page.clock.install()
  await send({ subject: 'Held', text: 'x' })
  await page.goto(`/m/${box}`)
  await view.row('Held').click()
  await expect(view.subject).toHaveText('Held')
  await page.keyboard.press('#')
  await view.toast.hover()
  await page.clock.runFor(20_000)
  await expect(view.toast).toBeVisible()
  expect(await count(server, box)).toBe(1)
  await page.mouse.move(5, 5)
  await page.clock.runFor(10_000)
  await expect.poll(() => count(server, box)).toBe(0)
})

for (const way of ['closing the tab', 'going elsewhere', 'reloading'] as const) {
  test(`fact 17: ${way} completes a delete`, async ({ browser, server, box, send }) => {
    const { context, page, view } = await person(browser, { baseURL: server.url })
    await send({ subject: 'Goes', text: 'x' })
    await page.goto(`/m/${box}`)
    await view.row('Goes').click()
    await page.keyboard.press('#')
    await expect(view.toast).toContainText('1 message deleted')
    expect(await count(server, box)).toBe(1)
    if (way === 'closing the tab') await page.close({ runBeforeUnload: true })
    else if (way === 'going elsewhere') await page.goto('about:blank')
    else await page.reload()
    await expect.poll(() => count(server, box)).toBe(0)
    await context.close()
  })
}

test('fact 17: mail that comes after a purge survives it', async ({ page, view, box, server, send }) => {
  await sendMany(server, box, 5, 'Old')
  await page.goto(`/m/${box}`)
  await expect(view.rows).toHaveCount(5)
  await view.live()
  await view.list.getByRole('button', { name: /More|Menu|Actions/ }).first().click()
  await page.getByRole('menuitem', { name: /Purge|Delete all/ }).click()
  await expect(view.rows).toHaveCount(0)
  await send({ subject: 'Came later', text: 'x' })
  await expect(view.row('Came later')).toBeVisible()
  expect(await count(server, box)).toBe(6)
  await page.mouse.move(0, 0)
  await expect.poll(() => count(server, box), { timeout: 12_000 }).toBe(1)
  await expect(view.row('Came later')).toBeVisible()
})

test('fact 17: several are selected and deleted at once', async ({ page, view, box, server }) => {
  await sendMany(server, box, 6, 'Mail', { connections: 1 })
  await page.goto(`/m/${box}`)
  for (const n of [1, 3]) {
    await view.row(`Mail ${n}`).hover()
    await view.row(`Mail ${n}`).getByRole('checkbox').click()
  }
  await expect(view.list.getByText('2 selected')).toBeVisible()
  await view.list.getByRole('button', { name: 'Delete' }).click()
  await expect(view.toast).toContainText('2 messages deleted')
  await expect(view.rows).toHaveCount(4)
})

test('fact 26: two people never change each other\'s view', async ({ browser, server, box, send }) => {
  for (let n = 0; n < 5; n++) await send(reset(`48192${n}`, `Mail ${n};`))
  const [anna, ben] = [await person(browser, { baseURL: server.url }), await person(browser, { baseURL: server.url })]
  for (const one of [anna, ben]) await one.page.goto(`/m/${box}`)
  await ben.view.row('Mail 2;').click()
  await expect(ben.view.subject).toHaveText('Mail 2;')
  await ben.page.mouse.move(700, 500)
  const look = () => ben.view.list.evaluate((main) => [...main.querySelectorAll('[aria-posinset]')].map((row) => `${row.className} ${row.textContent}`))
  const before = [await ben.view.shown(), await look()]
  for (const n of [0, 1, 3, 4]) {
    await anna.view.row(`Mail ${n};`).click()
    await expect(anna.view.subject).toHaveText(`Mail ${n};`)
  }
  await anna.view.choice('360').click()
  await anna.page.keyboard.press('Shift+U')
  await server.ask(`/api/v2/mailboxes/${box}/messages?fields=preview,codes`)
  const elsewhere = fresh('elsewhere')
  await deliverTo(server, { subject: 'For somebody else', text: 'x' }, elsewhere)
  await expect.poll(() => count(server, elsewhere)).toBe(1)
  expect([await ben.view.shown(), await look()]).toEqual(before)
  await anna.context.close()
  await ben.context.close()
})
