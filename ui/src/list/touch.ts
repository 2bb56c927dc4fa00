// A long touch chooses a line, as on phones. One listener for all lines; the click that follows the touch is swallowed.
import type { Attachment } from 'svelte/attachments'

const LONG = 500
const SLIP = 10

export function touching(chosen: (key: string) => void): Attachment<HTMLElement> {
  return (element) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let from = { x: 0, y: 0 }
    let swallow = false
    const stop = () => clearTimeout(timer)
    const down = (event: PointerEvent) => {
      stop()
      swallow = false
      const key = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-key]')?.dataset.key : undefined
      if (event.pointerType !== 'touch' || !key) return
      from = { x: event.clientX, y: event.clientY }
      timer = setTimeout(() => {
        swallow = true
        chosen(key)
      }, LONG)
    }
    const move = (event: PointerEvent) => void (Math.hypot(event.clientX - from.x, event.clientY - from.y) > SLIP && stop())
    const click = (event: MouseEvent) => {
      if (!swallow) return
      swallow = false
      event.preventDefault()
      event.stopPropagation()
    }
    const menu = (event: Event) => swallow && event.preventDefault()
    const leaving = new AbortController()
    const { signal } = leaving
    element.addEventListener('pointerdown', down, { signal })
    element.addEventListener('pointermove', move, { signal })
    for (const end of ['pointerup', 'pointercancel']) element.addEventListener(end, stop, { signal })
    element.addEventListener('contextmenu', menu, { signal })
    element.addEventListener('click', click, { signal, capture: true })
    return () => (stop(), leaving.abort())
  }
}
