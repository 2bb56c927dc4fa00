// Facts 3, 4: what testers come for, the code and the link.
import { clipboard, expect, reset, test } from '../harness'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

test('fact 03: the code is copied from the row, from the chip and by c', async ({ page, view, box, send }) => {
  await send(reset('481920'))
  await send(reset('334083', 'Your sign-in code'))
  await page.goto(`/m/${box}`)
  const pill = view.row('Reset your password').getByRole('button', { name: /481920/ })
  await pill.click()
  await expect(view.toast.last()).toContainText('481920')
  expect(await clipboard(page)).toBe('481920')
  await expect(page, 'copying opens nothing').toHaveURL(new RegExp(`/m/${box}$`))

  await view.row('Your sign-in code').click()
  await expect(view.subject).toHaveText('Your sign-in code')
  await view.article.getByRole('button', { name: 'Copy', exact: true }).click()
  await expect.poll(() => clipboard(page)).toBe('334083')

  await view.row('481920').click()
  await expect(view.subject).toHaveText('Reset your password')
  await page.keyboard.press('c')
  await expect.poll(() => clipboard(page)).toBe('481920')
})

test('fact 03: a mail with two codes says so and takes neither', async ({ page, view, box, send }) => {
  await send({ subject: 'Two of them', text: 'Your code for the front door: 513370\r\n\r\nYour code for the garage: 628814\r\n' })
  await page.goto(`/m/${box}`)
  await view.row('Two of them').click()
  await expect(view.article.getByText('2 possible codes')).toBeVisible()
})

test('fact 04: the link opens and copies, and the toast says what', async ({ page, view, box, send, context, canary }) => {
  const link = `http://one.canary.test:${canary.port}/reset?token=abc123`
  await send({ subject: 'Confirm', text: `Confirm your address: ${link}`, html: `<p>Almost there. <a href="${link}">Confirm your e-mail address</a></p>` })
  await page.goto(`/m/${box}`)
  await view.row('Confirm').click()
  const chip = view.article.getByRole('link', { name: /Confirm your e-mail address/ }).first()
  await expect(chip).toHaveAttribute('href', link)
  await expect(view.article.getByText(`one.canary.test:${canary.port}`).first()).toBeVisible()
  await view.article.getByRole('button', { name: /Copy link/ }).first().click()
  await expect(view.toast.last()).toContainText(/Copied/)
  expect(await clipboard(page)).toBe(link)

  const [opened] = await Promise.all([context.waitForEvent('page'), chip.click()])
  await expect.poll(() => opened.url()).toBe(link)
  expect(await opened.evaluate(() => window.opener === null)).toBe(true)
  await opened.close()
  const [again] = await Promise.all([context.waitForEvent('page'), page.keyboard.press('l')])
  await expect.poll(() => again.url()).toBe(link)
  await again.close()
  await page.keyboard.press('Shift+L')
  await expect.poll(() => clipboard(page)).toBe(link)
})

test('fact 04: links that are not http are shown and open nothing', async ({ page, view, box, send }) => {
  await send({ subject: 'Odd links', text: 'x', html: '<a href="javascript:alert(1)">Verify your account</a> <a href="ftp://a.test/x">Reset</a>' })
  await page.goto(`/m/${box}`)
  await view.row('Odd links').click()
  await expect(view.subject).toHaveText('Odd links')
  const hrefs = await view.article.locator('a[href]').evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).protocol))
  expect(hrefs.filter((protocol) => !/^(https?|mailto):$/.test(protocol))).toEqual([])
})
