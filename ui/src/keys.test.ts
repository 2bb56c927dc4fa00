// The table of keys: each key once, each found by the event that a browser sends.
import { expect, it } from 'vitest'
import { ACTIONS, KEYS, pressed, shown } from './keys'

const event = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more })

it('has each key once', () => {
  const all = ACTIONS.flatMap((action) => [...KEYS[action]])
  expect(new Set(all).size).toBe(all.length)
})

it('finds keys as browsers send them', () => {
  expect(pressed(event('j'), null)).toEqual({ action: 'next' })
  expect(pressed(event('#', { shiftKey: true }), null)).toEqual({ action: 'delete' })
  expect(pressed(event('?', { shiftKey: true }), null)).toEqual({ action: 'help' })
  expect(pressed(event('U', { shiftKey: true }), null)).toEqual({ action: 'unread' })
  expect(pressed(event('ArrowDown', { shiftKey: true }), null)).toEqual({ action: 'selectDown' })
  expect(pressed(event('k', { metaKey: true }), null)).toEqual({ action: 'palette' })
  expect(pressed(event('a', { ctrlKey: true }), null)).toEqual({ action: 'selectAll' })
  expect(pressed(event('j', { altKey: true }), null)).toBeNull()
  expect(pressed(event('c', { ctrlKey: true }), null)).toBeNull()
})

it('takes two keys in a row', () => {
  expect(pressed(event('g'), null)).toEqual({ pending: 'g' })
  expect(pressed(event('a'), 'g')).toEqual({ action: 'goAll' })
  expect(pressed(event('q'), 'g')).toBeNull()
})

it('shows keys as they are printed', () => {
  expect(['Ctrl+k', 'Shift+ArrowDown', 'Escape', 'g a'].map(shown)).toEqual(['Ctrl+K', 'Shift+↓', 'Esc', 'g a'])
})
