// To the clipboard, also where the page is not secure (plain http from afar); as a last resort the text is selected for Ctrl+C.
import { t } from '../i18n'
import type { AppState } from '../state/app.svelte'

/** Copies and says so. `what` completes "Copied …". */
export async function copy(app: AppState, text: string, what: string): Promise<void> {
  const done = (await byClipboard(text)) || byCommand(text)
  app.notices.say(done ? t('copied', what) : t('copy.failed'))
}

async function byClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Old, and the only way on plain http. When it is refused the text stays selected. */
function byCommand(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'unseen'
  area.readOnly = true
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  if (done) {
    area.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  } else {
    area.addEventListener('blur', () => area.remove(), { once: true })
  }
  return done
}
