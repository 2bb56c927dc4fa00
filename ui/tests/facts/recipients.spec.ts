// Facts 11, 12: to whom a mail says it goes, and to whom it went.
import { address, deliver, expect, fresh, mail, Server, test } from '../harness'

test('fact 11: 30 recipients make one row and a short head, and all are within reach', async ({ page, view, server }) => {
  const names = Array.from({ length: 30 }, () => fresh('r'))
  const to = names.map((name, n) => `Person ${n} <${address(name)}>`).join(',\r\n ')
  const subject = `To thirty ${names[0]}`
  await deliver(server.smtpPort, { to: names.map(address), data: mail({ to, subject, text: 'x' }) })
  await page.goto('/')
  await expect(view.row(subject)).toHaveCount(1)
  await expect(view.row(subject)).toContainText('+29')
  await view.row(subject).click()
  await expect(view.subject).toHaveText(subject)
  const more = view.article.getByRole('button', { name: /and 28 more/ }).first()
  await expect(more).toBeVisible()
  await expect(view.article.getByText('Person 29')).toHaveCount(0)
  const [top, end] = [await view.subject.boundingBox(), await view.article.getByRole('tablist').boundingBox()]
  expect((end?.y ?? 999) - (top?.y ?? 0), 'height of the head').toBeLessThan(220)
  await more.click()
  for (const n of [2, 15, 29]) await expect(view.article.getByText(`Person ${n}`, { exact: true }).first()).toBeVisible()
  await page.goto(`/m/${names[17]}`)
  await expect(view.row(subject)).toHaveCount(1)
})

test('fact 11: the row stays one when the mail comes while one looks', async ({ page, view, server }) => {
  const names = Array.from({ length: 8 }, () => fresh('live'))
  const subject = `Live to eight ${names[0]}`
  await page.goto('/')
  await view.live()
  await deliver(server.smtpPort, { to: names.map(address), data: mail({ to: names.map(address).join(', '), subject, text: 'x' }) })
  await expect(view.row(subject)).toHaveCount(1)
  await expect(view.row(subject)).toContainText('+7')
  await expect(view.row(subject)).toHaveCount(1)
})

test('fact 12: a blind copy is told apart', async ({ page, view, server }) => {
  const [anna, secret] = [fresh('anna'), fresh('auditor')]
  await deliver(server.smtpPort, { to: [anna, secret].map(address), data: mail({ to: `Anna <${address(anna)}>`, subject: 'Board minutes', text: 'x' }) })
  await page.goto(`/m/${secret}`)
  await expect(view.row('Board minutes')).toContainText('Bcc')
  await view.row('Board minutes').click()
  await expect(view.article.getByText(/Blind copy/)).toContainText(address(secret))
  await page.goto(`/m/${anna}`)
  await view.row('Board minutes').click()
  await expect(view.subject).toHaveText('Board minutes')
  await expect(view.article.getByText(new RegExp(`Blind copy.*${address(anna)}`))).toHaveCount(0)
})

test('fact 12: a name that nothing was delivered to is told apart', async ({ page, view, server, box }) => {
  await deliver(server.smtpPort, { to: [address(box)], data: mail({ to: `Ben <${address(box)}>, Ghost <ghost@elsewhere.test>`, subject: 'With a ghost', text: 'x' }) })
  await page.goto(`/m/${box}`)
  await view.row('With a ghost').click()
  await expect(view.subject).toHaveText('With a ghost')
  await expect(async () => {
    if (!(await view.article.getByText('named, not delivered here').first().isVisible())) await view.article.getByRole('button', { name: 'Details' }).click()
    await expect(view.article.getByText('named, not delivered here').first()).toBeVisible({ timeout: 1000 })
  }).toPass()
})

test('fact 12: an envelope that differs from the header is shown', async ({ page, view, server, box }) => {
  await deliver(server.smtpPort, { from: 'bounce@shop.test', to: [address(box)], data: mail({ from: 'Acme <no-reply@auth.shop.test>', to: address(box), subject: 'Envelope', text: 'x' }) })
  await page.goto(`/m/${box}`)
  await view.row('Envelope').click()
  await expect(view.article.getByText(/^Envelope:/)).toContainText('bounce@shop.test')
})

test('fact 12: in public mode no envelope of others is shown', async ({ page, view }) => {
  const server = await Server.start({ mode: 'public' })
  const [anna, secret] = [fresh('anna'), fresh('auditor')]
  await deliver(server.smtpPort, { to: [anna, secret].map(address), data: mail({ to: address(anna), subject: 'Minutes', text: 'x' }) })
  await page.goto(`${server.url}/m/${anna}`)
  await view.row('Minutes').click()
  await expect(view.subject).toHaveText('Minutes')
  await expect(page.getByText(secret)).toHaveCount(0)
  await expect(page.getByText(/Blind copy|Envelope:/)).toHaveCount(0)
  await server.stop()
})
