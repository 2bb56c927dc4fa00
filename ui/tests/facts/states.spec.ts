// What has no number: searches, what went wrong and what to do next, the monitor, and what this browser prefers.
import { deliver, expect, fresh, mail, reset, send, Server, test } from '../harness'

test('a search runs while one types, and its address is a view', async ({ page, view, box, send: post }) => {
  await post({ subject: 'Receipt 9009', text: 'Thanks' })
  await post({ subject: 'Something else', text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.rows).toHaveCount(2)
  await view.field.fill('subject:receipt')
  await expect(view.rows).toHaveCount(1)
  await expect(page).toHaveURL(/\?q=subject/)
  await page.reload()
  await expect(view.rows).toHaveCount(1)
  await expect(view.field).toHaveValue('subject:receipt')
})

test('a name offers its mailbox first, words a search', async ({ page, view, box, send: post }) => {
  await post({ subject: 'x', text: 'x' })
  await page.goto('/')
  await view.field.fill(box)
  await expect(page.getByRole('option').first()).toContainText(`Open mailbox ${box}`)
  await view.field.fill(`${box} receipt`)
  await expect(page.getByRole('option').first()).toContainText('Search')
})

test('a search that cannot be read says where, and what was meant', async ({ page, view, box, send: post }) => {
  await post({ subject: 'x', text: 'x' })
  await page.goto(`/m/${box}?q=${encodeURIComponent('subjct:receipt')}`)
  await expect(view.list.getByText(/subject/).first()).toBeVisible()
})

test('no hits: what was searched and where else to look', async ({ page, view, box, send: post }) => {
  await post({ subject: 'x', text: 'x' })
  await page.goto(`/m/${box}?q=zebra`)
  await expect(view.list.getByText(/zebra/).first()).toBeVisible()
  await view.list.getByRole('link', { name: 'Search all mailboxes' }).click()
  await expect(page).toHaveURL(/\/\?q=zebra$/)
})

test('a message that is gone says so and leads to the newest', async ({ page, view, box, send: post }) => {
  await post({ subject: 'Still here', text: 'x' })
  await page.goto(`/m/${box}/1k000000000000`)
  await expect(page.getByText(/Deleted or expired/).first()).toBeVisible()
  await expect(view.row('Still here')).toBeVisible()
  await page.getByRole('link', { name: `Newest in ${box}` }).click()
  await expect(view.subject).toHaveText('Still here')
})

test('a fault of one pane leaves the others alive', async ({ page, view, box, send: post }) => {
  await post({ subject: 'First', text: 'x' })
  await page.route('**/api/v2/mailboxes?*', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"type":"urn:postkeep:problem:busy","detail":"Busy.","requestId":"r1"}' }))
  await page.goto(`/m/${box}`)
  await view.row('First').click()
  await expect(view.subject).toHaveText('First')
})

test('a page that was open while the server was upgraded says so, and offers to reload', async ({ page, view, box, send: post }) => {
  await post({ subject: 'First', text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.row('First')).toBeVisible()
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, body: 'gone' }))
  await page.getByRole('banner').getByRole('link', { name: 'Connect an app' }).click()
  await expect(page.getByRole('main').getByRole('alert')).toContainText('upgraded')
  await page.unroute('**/assets/*.js')
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByRole('heading', { name: 'Connect an app' })).toBeVisible()
})

test('the monitor tells arrivals and refusals, pauses and hides', async ({ page }) => {
  const server = await Server.start({ set: { 'policy.reject': 'refused.test' } })
  const box = fresh()
  await page.goto(`${server.url}/monitor`)
  await expect(page.getByRole('heading', { name: 'Monitor' })).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: 'Live' })).toBeVisible()
  await send(server, reset('481920'), box)
  await expect(page.getByText('Reset your password')).toBeVisible()
  await expect(deliver(server.smtpPort, { to: ['x@refused.test'], data: mail({ subject: 'no' }) })).rejects.toThrow()
  await expect(page.getByText('x@refused.test')).toBeVisible()
  await expect(page.getByText(/Refused/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Pause' }).click()
  await send(server, { subject: 'While paused', text: 'x' }, box)
  await expect(page.getByText(/1 waiting/)).toBeVisible()
  await expect(page.getByText('While paused')).toHaveCount(0)
  await page.getByRole('button', { name: 'Go on' }).click()
  await expect(page.getByText('While paused')).toBeVisible()
  await page.getByRole('button', { name: 'Hide older' }).click()
  await expect(page.getByText('While paused')).toHaveCount(0)
  await page.getByRole('button', { name: 'Show' }).click()
  await expect(page.getByText('While paused')).toBeVisible()
  await server.stop()
})

test('theme and density are kept in this browser', async ({ page, view, box, send: post }) => {
  await post({ subject: 'First', text: 'x' })
  await page.goto(`/m/${box}`)
  for (const choice of ['Dark', 'Compact']) {
    await page.getByRole('button', { name: 'Help and settings' }).click()
    await page.getByRole('menuitemradio', { name: choice }).click()
  }
  await page.reload()
  await expect(view.row('First')).toHaveCSS('height', '32px')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('the splitter moves by keys and stays', async ({ page, view, box, send: post }) => {
  await post({ subject: 'First', text: 'x' })
  await page.goto(`/m/${box}`)
  await expect(view.row('First')).toBeVisible()
  const splitter = page.getByRole('separator')
  await splitter.focus()
  const width = async () => Math.round((await view.list.boundingBox())?.width ?? 0)
  expect(await width()).toBe(416)
  for (let n = 0; n < 3; n++) await page.keyboard.press('ArrowRight')
  await expect.poll(width).toBeGreaterThan(416)
  const wide = await width()
  await page.reload()
  await expect.poll(width).toBe(wide)
})
