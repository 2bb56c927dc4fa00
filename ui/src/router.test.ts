// Every URL of the page and back again.
import { describe, expect, it } from 'vitest'
import { ALL, following, href, listing, mailbox, parse, reading, type Route } from './router'

const routes: [string, Route][] = [
  ['', listing(ALL)],
  ['?q=from%3A%40shop.test+reset', listing(ALL, 'from:@shop.test reset')],
  ['latest', following(ALL)],
  ['m/ben', listing(mailbox('ben'))],
  ['m/ben?q=code', listing(mailbox('ben'), 'code')],
  ['m/a%2Fb%40x.test', listing(mailbox('a/b@x.test'))],
  ['m/ben/latest', following(mailbox('ben'))],
  ['m/ben/latest/source', { ...following(mailbox('ben')), tab: 'source' }],
  ['m/ben/1k0b2d8hx6c00', reading('ben', '1k0b2d8hx6c00')],
  ['m/ben/1k0b2d8hx6c00/headers', reading('ben', '1k0b2d8hx6c00', undefined, 'headers')],
  ['m/ben/1k0b2d8hx6c00?in=all&q=reset', reading('ben', '1k0b2d8hx6c00', { scope: ALL, q: 'reset' })],
  ['monitor', { view: 'monitor', next: null }],
  ['login?next=%2Fm%2Fben', { view: 'login', next: '/m/ben' }],
]

describe.each(['/', '/mail/pk/'])('under %s', (base) => {
  it.each(routes)('%s', (path, route) => {
    expect(parse(new URL(base + path, 'http://pk.test'), base)).toEqual(route)
    expect(href(route, base)).toBe(base + path)
  })
})

it.each(['n/ben', 'm', 'm/', 'm/%zz', 'm/ben/1/nonsense', 'm/ben/1/html/2', 'settings', 'latest/x'])('%s is unknown', (path) => {
  expect(parse(new URL('/' + path, 'http://pk.test'), '/').view).toBe('unknown')
})
