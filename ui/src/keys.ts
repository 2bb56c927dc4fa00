// Every key and what it does: one table for the handler, the palette, tooltips and help. Pure: knows no event but its shape.

export const KEYS = {
  next: ['j', 'ArrowDown'], previous: ['k', 'ArrowUp'], open: ['Enter', 'o'], back: ['Escape', 'u'],
  select: ['x'], selectDown: ['Shift+ArrowDown'], selectUp: ['Shift+ArrowUp'], selectAll: ['Ctrl+a'],
  delete: ['#', 'Delete'], undo: ['z'], unread: ['Shift+U'], release: ['r'],
  copyCode: ['c'], openLink: ['l'], copyLink: ['Shift+L'], copyUrl: ['y'],
  tab1: ['1'], tab2: ['2'], tab3: ['3'], tab4: ['4'], tab5: ['5'], tab6: ['6'],
  width: ['w'], dark: ['d'], images: ['i'], body: ['v'], alone: ['f'],
  field: ['/'], goAll: ['g a'], goMailbox: ['g m'], goNewest: ['g n'], goMonitor: ['g l'], goFaults: ['g f'], palette: ['Ctrl+k'], help: ['?'],
} as const
export type Action = keyof typeof KEYS
export const ACTIONS = Object.keys(KEYS) as Action[]

/** What an event has that keys are told by. */
export interface Pressed {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
}

const PREFIXES = new Set(Object.values(KEYS).flat().filter((key) => key.includes(' ')).map((key) => key.split(' ')[0]))
const TABLE = new Map<string, Action>(ACTIONS.flatMap((action) => KEYS[action].map((key) => [key, action] as const)))

/** The action of a key, `pending` being the first of two; a string is the first of two to be remembered. */
export function pressed(event: Pressed, pending: string | null): { action: Action } | { pending: string } | null {
  const key = spelled(event)
  if (key === null) return null
  const action = TABLE.get(pending ? `${pending} ${key}` : key)
  if (action) return { action }
  return PREFIXES.has(key) ? { pending: key } : null
}

/** Without Ctrl or Meta, so that it can be switched off (WCAG 2.1.4); keys that print nothing stay. */
export const isSingle = (event: Pressed): boolean => event.key.length === 1 && !event.ctrlKey && !event.metaKey

function spelled(event: Pressed): string | null {
  if (event.altKey) return null
  if (event.ctrlKey || event.metaKey) return `Ctrl+${event.key.toLowerCase()}`
  const named = event.key.length > 1
  if (event.shiftKey && (named || /^[A-Z]$/.test(event.key))) return `Shift+${event.key}`
  return event.key
}

/** As it is shown: `g a` in two, arrows as arrows. */
export function shown(key: string): string {
  const names: Record<string, string> = { ArrowDown: '↓', ArrowUp: '↑', Escape: 'Esc' }
  return key.split('+').map((word) => names[word] ?? (word.length === 1 && key.startsWith('Ctrl') ? word.toUpperCase() : word)).join('+')
}
