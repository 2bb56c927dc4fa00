// Whether a file is what its name and its sender say. Pure; the real type was told from its bytes by the server.

export interface Claimed {
  name?: string | null
  type: string
  realType?: string | null
}

export type Disagreement = { kind: 'declared'; declared: string; real: string } | { kind: 'named'; extension: string; real: string }

/** What an ending promises. Only endings whose type can be told from bytes, or that are opened without a question. */
const ENDINGS: Record<string, string[]> = {
  png: ['image/png'], jpg: ['image/jpeg'], jpeg: ['image/jpeg'], gif: ['image/gif'], webp: ['image/webp'], bmp: ['image/bmp'], ico: ['image/x-icon', 'image/vnd.microsoft.icon'],
  svg: ['image/svg+xml'], pdf: ['application/pdf'], zip: ['application/zip'], gz: ['application/gzip'], html: ['text/html'], htm: ['text/html'],
  txt: ['text/plain'], csv: ['text/csv', 'text/plain'], ics: ['text/calendar', 'text/plain'], json: ['application/json', 'text/plain'],
  docx: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'application/zip'],
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'application/zip'],
  pptx: ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'application/zip'],
  exe: ['application/vnd.microsoft.portable-executable', 'application/x-msdownload', 'application/x-dosexec'], mp3: ['audio/mpeg'], mp4: ['video/mp4'],
}
/** These say nothing about what is inside. */
const SILENT = new Set(['application/octet-stream', 'application/x-unknown', 'binary/octet-stream', 'application/download', 'application/force-download'])
/** Kept in archives: their bytes are those of a zip. */
const ZIPPED = /^application\/(vnd\.openxmlformats-officedocument\.|vnd\.oasis\.opendocument\.|epub\+zip|java-archive|x-zip)/

export function disagreement({ name, type, realType }: Claimed): Disagreement | null {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name ?? '')?.[1]?.toLowerCase()
  const promised = extension ? ENDINGS[extension] : undefined
  const real = realType ?? null
  if (real && !SILENT.has(type) && !agrees([type], real)) return { kind: 'declared', declared: type, real }
  const known = real ?? (SILENT.has(type) ? null : type)
  if (extension && promised && known && !agrees(promised, known)) return { kind: 'named', extension, real: known }
  return null
}

function agrees(promised: string[], real: string): boolean {
  return promised.some((type) => same(type) === same(real) || (ZIPPED.test(type) && real === 'application/zip') || (isText(type) && isText(real) && real !== 'text/html'))
}

const isText = (type: string): boolean => type.startsWith('text/') || /^application\/(json|xml|.*\+(json|xml))$/.test(type)

/** Types with several names. */
function same(type: string): string {
  const other: Record<string, string> = {
    'image/jpg': 'image/jpeg', 'image/pjpeg': 'image/jpeg', 'image/x-png': 'image/png', 'application/x-zip-compressed': 'application/zip', 'application/x-gzip': 'application/gzip',
    'application/x-pdf': 'application/pdf', 'image/vnd.microsoft.icon': 'image/x-icon', 'application/x-msdownload': 'application/vnd.microsoft.portable-executable',
    'application/x-dosexec': 'application/vnd.microsoft.portable-executable', 'application/xml': 'text/xml',
  }
  return other[type] ?? type
}

/** What is shown by itself; everything else is downloaded. */
export function preview({ type, realType }: Claimed): 'image' | 'text' | null {
  const shown = (one: string) => /^image\/(png|jpeg|gif|webp)$/.test(one)
  if (shown(type) && shown(realType ?? type)) return 'image'
  return type === 'text/plain' && (realType ?? 'text/plain') === 'text/plain' ? 'text' : null
}
