// Chosen messages as files: one as `.eml`, several as a ZIP of them. Fetched only when it is asked for.
import { t } from '../i18n'
import type { AppState } from '../state/app.svelte'
import { bytesOf } from '../state/bytes'
import type { Row } from '../state/row'
import { zip } from './zip'

export async function save(app: AppState, rows: readonly Row[]): Promise<void> {
  try {
    const files = []
    for (const row of rows) files.push({ name: `${safe(row.mailbox)}-${row.id}.eml`, bytes: await bytesOf(app.calls, row) })
    const [only] = files
    if (!only) return
    if (files.length === 1) offer(new Blob([only.bytes as BlobPart], { type: 'message/rfc822' }), only.name)
    else offer(zip(files), `postkeep-${files.length}.zip`)
  } catch (fault) {
    app.notices.say(t('save.failed', fault instanceof Error ? fault.message : ''), { tone: 'fault' })
  }
}

const safe = (name: string) => name.replace(/[^\w.@+-]/g, '_')

function offer(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
