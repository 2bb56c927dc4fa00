// Times, numbers and sizes as people read them. The language is the browser's; the clock is the caller's.

const language = typeof navigator === 'undefined' ? 'en' : navigator.language
// Texts are English, so plurals and months beside them are too, whatever the browser speaks; only the order of a date is its own.
const own = language.startsWith('en') ? language : 'en-GB'

const clock = new Intl.DateTimeFormat(own, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const seconds = new Intl.DateTimeFormat(own, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(own, { day: 'numeric', month: 'short' })
const year = new Intl.DateTimeFormat(own, { day: 'numeric', month: 'short', year: 'numeric' })
const full = new Intl.DateTimeFormat(own, { dateStyle: 'full', timeStyle: 'long', hourCycle: 'h23' })
const whole = new Intl.NumberFormat('en')
const plural = new Intl.PluralRules('en')

export const number = (value: number): string => whole.format(value)

/** `1 message`, `2 messages`. */
export const counted = (count: number, one: string, many: string): string =>
  `${number(count)} ${plural.select(count) === 'one' ? one : many}`

/** As in a list: `10:42`, `Yesterday`, `13 Nov`, `13 Nov 2025`. */
export function listTime(time: Date, now: Date, yesterday: string): string {
  const days = Math.round((midnight(now) - midnight(time)) / 86_400_000)
  if (days === 0) return clock.format(time)
  if (days === 1) return yesterday
  return time.getFullYear() === now.getFullYear() ? day.format(time) : year.format(time)
}

export const fullTime = (time: Date): string => full.format(time)
export const clockTime = (time: Date): string => seconds.format(time)
export const shortTime = (time: Date): string => clock.format(time)

/** `12 seconds`, `3 minutes`, `5 hours`, `2 days`. */
export function span(milliseconds: number): string {
  const s = Math.max(0, Math.round(milliseconds / 1000))
  if (s < 60) return counted(s, 'second', 'seconds')
  if (s < 3600) return counted(Math.round(s / 60), 'minute', 'minutes')
  if (s < 172_800) return counted(Math.round(s / 3600), 'hour', 'hours')
  return counted(Math.round(s / 86_400), 'day', 'days')
}

/** A duration of the API (`7d`, `36h`, `90m`, `30s`) in words. */
export function duration(text: string): string {
  const [, count, unit] = /^(\d+)(d|h|m|s|ms)$/.exec(text) ?? []
  if (!count || !unit) return text
  const n = Number(count)
  switch (unit) {
    case 'd': return counted(n, 'day', 'days')
    case 'h': return counted(n, 'hour', 'hours')
    case 'm': return counted(n, 'minute', 'minutes')
    case 's': return counted(n, 'second', 'seconds')
    default: return text
  }
}

/** `633 B`, `1.5 kB`, `1.9 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`
}

function midnight(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
}
