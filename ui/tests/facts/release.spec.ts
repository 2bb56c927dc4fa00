// Fact 27: a message is released to real people from its menu, and the page tells how it went with each of them.
import type { Page } from '@playwright/test'
import { address, deliver, expect, fresh, leaving, mail, Relay, reset, send, Server, test, View } from '../harness'

let relay: Relay
let server: Server
test.beforeAll(async () => {
  relay = await Relay.start({ gone: '550 5.1.1 No such user here', later: '451 4.7.1 Greylisted' })
  server = await Server.start({ set: leaving(relay) })
})
test.afterAll(async () => {
  await server.stop()
  relay.stop()
})

async function open(page: Page, root = server): Promise<{ view: View; box: string }> {
  const box = fresh()
  await send(root, reset('481920'), box)
  await page.goto(`${root.url}/m/${box}/latest`)
  const view = new View(page)
  // The subject is there before the message is, of which all this is.
  await expect(view.article.getByRole('button', { name: 'Copy as' })).toBeVisible()
  return { view, box }
}

test('fact 27: released from the menu, it goes as it came, and each recipient is told of', async ({ page }) => {
  const { view, box } = await open(page)
  const { items } = await server.ask<{ items: { id: string }[] }>(`/api/v2/mailboxes/${box}/messages`)
  const source = await (await fetch(`${server.url}/api/v2/mailboxes/${box}/messages/${items[0]?.id}/source`)).text()
  await view.article.getByRole('button', { name: 'More', exact: true }).filter({ visible: true }).click()
  await page.getByRole('menuitem', { name: 'Release…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Release this message' })
  await expect(dialog).toContainText('*@example.com')
  await expect(dialog.getByLabel('Recipients')).toHaveValue('')
  await dialog.getByLabel('Recipients').fill('qa@example.com, gone@example.com, later@example.com')
  await dialog.getByRole('button', { name: 'Release' }).click()
  const line = (who: string) => dialog.getByRole('listitem').filter({ hasText: who })
  await expect(line('qa@example.com')).toContainText(/Sent.*queued as/s)
  await expect(line('gone@example.com')).toContainText(/Not sent.*550 5\.1\.1 No such user here/s)
  await expect(line('later@example.com')).toContainText(/Waiting.*451 4\.7\.1 Greylisted/s)
  expect(relay.taken.at(-1)?.to).toEqual(['qa@example.com'])
  const body = (text: string) => text.slice(text.indexOf('\r\n\r\n'))
  expect(body(relay.taken.at(-1)?.data ?? '')).toBe(body(source))
  // What was released before is told when one comes back.
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await page.reload()
  await expect(view.subject).toHaveText('Reset your password')
  await page.keyboard.press('r')
  await expect(line('gone@example.com')).toContainText('Not sent')
})

test('fact 27: by keys alone; who is not allowed is named, and nothing leaves', async ({ page }) => {
  await open(page)
  const before = relay.taken.length
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog', { name: 'Release this message' })
  await expect(dialog.getByLabel('Recipients')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('Write to whom')
  await page.keyboard.type('ben')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('Not an address: ben')
  await dialog.getByLabel('Recipients').fill('qa@example.com, boss@elsewhere.test')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('May not be sent to: boss@elsewhere.test')
  await expect(dialog.getByLabel('Recipients'), 'to be mended').toHaveValue('qa@example.com, boss@elsewhere.test')
  expect(relay.taken.length).toBe(before)
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})

test('fact 27: it is not offered where mail does not leave, nor to whom it is not allowed', async ({ page, server: plain }) => {
  const more = new View(page).article.getByRole('button', { name: 'More', exact: true }).filter({ visible: true })
  await open(page, plain)
  await expect(more).toHaveCount(0)
  await page.keyboard.press('r')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  const reader = await Server.start({ mode: 'token', scope: 'list,read:*', set: leaving(relay) })
  await deliver(reader.smtpPort, { to: [address('ben')], data: mail(reset('481920')) })
  await page.goto(`${reader.url}/m/ben#key=${reader.token}`)
  const view = new View(page)
  await view.row('Reset your password').click()
  await expect(view.subject).toHaveText('Reset your password')
  await expect(view.article.getByRole('button', { name: 'Copy as' })).toBeVisible()
  await expect(more).toHaveCount(0)
  await reader.stop()
})
