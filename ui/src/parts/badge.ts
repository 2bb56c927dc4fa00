// How many mails are new, on the icon of the tab. Drawn as an image of its own; the icon without a number is the page's file.
const COUNT_MAX = 99

let plain: string | null = null

export function badge(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!link) return
  plain ??= link.href
  const wanted = count > 0 ? drawn(Math.min(count, COUNT_MAX)) : plain
  if (link.href !== wanted) link.href = wanted
}

function drawn(count: number): string {
  const size = count > 9 ? 17 : 21
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6b5d"/>' +
    `<text x="16" y="${16 + size * 0.36}" font-family="system-ui,sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" fill="#fff">${count}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
