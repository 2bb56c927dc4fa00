// Code that waits for the next mail like this one, to be pasted as it is: the server, the mailbox and the subject are put in,
// quoted for each language; the token is not, it is read from POSTKEEP_TOKEN. Pure.

export interface Like {
  /** Where the page lives, with or without a slash at its end. */
  server: string
  mailbox: string
  subject: string
  /** Stands for the subject when there is none. */
  from: string
  hasCode: boolean
  hasLink: boolean
}

export const SAMPLES = ['curl', 'playwright', 'pytest', 'rust'] as const
export type SampleName = (typeof SAMPLES)[number]

/** How long the pasted code waits. */
const SECONDS = 20
/** No longer than this is looked for in a subject. */
const LIKENESS_MAX = 120

export function copyAs(name: SampleName, like: Like): string {
  return { curl, playwright, pytest, rust }[name](like)
}

function curl(like: Like): string {
  const [key, value] = matcher(like)
  return `# Waits for the next mail like this one, up to ${SECONDS} seconds, and prints it.
mailbox=${sh(mailboxUrl(like))}
since=$(curl -fsS \${POSTKEEP_TOKEN:+"-HAuthorization: Bearer $POSTKEEP_TOKEN"} "$mailbox" | sed 's/.*"cursor":"\\([^"]*\\)".*/\\1/')
curl -fsS \${POSTKEEP_TOKEN:+"-HAuthorization: Bearer $POSTKEEP_TOKEN"} --get "$mailbox/wait" \\
  --data-urlencode ${sh(`${key}=${value}`)} -d "since=$since" -d timeout=${SECONDS}s
`
}

function playwright(like: Like): string {
  const [key, value] = matcher(like)
  return lines(
    `import { expect, test } from '@playwright/test'`,
    ``,
    `test(${js(`${title(like)} arrives`)}, async ({ request }) => {`,
    `  const mailbox = ${js(mailboxUrl(like))}`,
    `  const token = process.env.POSTKEEP_TOKEN`,
    `  const headers = token ? { Authorization: \`Bearer \${token}\` } : {}`,
    `  const { cursor } = await (await request.get(mailbox, { headers })).json()`,
    ``,
    `  // Here your application sends the mail.`,
    ``,
    `  const answer = await request.get(\`\${mailbox}/wait\`, {`,
    `    headers,`,
    `    params: { ${key}: ${js(value)}, since: cursor, timeout: '${SECONDS}s' },`,
    `  })`,
    `  expect(answer.ok(), await answer.text()).toBe(true)`,
    `  const [mail] = (await answer.json()).messages`,
    like.hasCode && `  const code = mail.codes[0].value`,
    like.hasCode && `  expect(code).not.toBe('')`,
    like.hasLink && `  const link = mail.links.find((one: { action: boolean }) => one.action).href`,
    like.hasLink && `  expect(link).toContain('://')`,
    !like.hasCode && !like.hasLink && `  expect(mail.text).not.toBe('')`,
    `})`,
  )
}

function pytest(like: Like): string {
  const [key, value] = matcher(like)
  return lines(
    `import json`,
    `import os`,
    `from urllib.error import HTTPError`,
    `from urllib.parse import urlencode`,
    `from urllib.request import Request, urlopen`,
    ``,
    `MAILBOX = ${py(mailboxUrl(like))}`,
    ``,
    ``,
    `def ask(path="", query=None):`,
    `    request = Request(MAILBOX + path + ("?" + urlencode(query) if query else ""))`,
    `    if os.environ.get("POSTKEEP_TOKEN"):`,
    `        request.add_header("Authorization", "Bearer " + os.environ["POSTKEEP_TOKEN"])`,
    `    try:`,
    `        with urlopen(request, timeout=${SECONDS + 10}) as answer:`,
    `            return json.load(answer)`,
    `    except HTTPError as refusal:`,
    `        raise AssertionError(refusal.read().decode()) from None`,
    ``,
    ``,
    `def test_${word(like)}():`,
    `    since = ask()["cursor"]`,
    ``,
    `    # Here your application sends the mail.`,
    ``,
    `    answer = ask("/wait", {"${key}": ${py(value)}, "since": since, "timeout": "${SECONDS}s"})`,
    `    mail = answer["messages"][0]`,
    like.hasCode && `    code = mail["codes"][0]["value"]`,
    like.hasCode && `    assert code`,
    like.hasLink && `    link = next(link["href"] for link in mail["links"] if link["action"])`,
    like.hasLink && `    assert "://" in link`,
    !like.hasCode && !like.hasLink && `    assert mail["text"]`,
  )
}

function rust(like: Like): string {
  const [key, value] = matcher(like)
  const https = like.server.startsWith('https:') ? ' with its feature "https"' : ''
  return lines(
    `// Needs postkeep-client${https}, and tokio with its features "macros" and "rt".`,
    `use std::time::Duration;`,
    ``,
    `use postkeep_client::{Client, Error};`,
    ``,
    `#[tokio::test]`,
    `async fn ${word(like)}() -> Result<(), Error> {`,
    `    let mut client = Client::new(${rs(root(like))})?;`,
    `    if let Ok(token) = std::env::var("POSTKEEP_TOKEN") {`,
    `        client = client.token(token);`,
    `    }`,
    `    let mailbox = client.mailbox(${rs(like.mailbox)}).await?;`,
    ``,
    `    // Here your application sends the mail.`,
    ``,
    `    let mail = mailbox.wait().${key}(${rs(value)}).timeout(Duration::from_secs(${SECONDS})).await?;`,
    like.hasCode && `    let code = mail.code()?;`,
    like.hasCode && `    assert!(!code.is_empty());`,
    like.hasLink && `    let link = mail.link()?;`,
    like.hasLink && `    assert!(link.contains("://"));`,
    !like.hasCode && !like.hasLink && `    assert!(!mail.text.is_empty());`,
    `    Ok(())`,
    `}`,
  )
}

const lines = (...all: (string | false)[]): string => all.filter((line) => line !== false).join('\n') + '\n'
const root = (like: Like): string => like.server.replace(/\/+$/, '')
const mailboxUrl = (like: Like): string => `${root(like)}/api/v2/mailboxes/${escaped(like.mailbox)}`

function matcher(like: Like): ['subject' | 'from', string] {
  const likeness = likenessOf(like.subject)
  return likeness ? ['subject', likeness] : ['from', like.from]
}

/**
 * What the subject of the next mail like this one will contain too: numbers are another's next time, and what cannot be seen
 * must not be pasted into a terminal. So the longest stretch without either.
 */
export function likenessOf(subject: string): string {
  const seen = subject.split(/[\p{C}\u2028\u2029]+/u).map((piece) => piece.trim())
  const pieces = seen.flatMap((piece) => piece.split(/\S*\d\S*/)).map((piece) => piece.trim())
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), '')
  const chosen = /\p{L}{2}/u.test(longest) ? longest : seen.reduce((best, piece) => (piece.length > best.length ? piece : best), '')
  return [...chosen].slice(0, LIKENESS_MAX).join('').trim()
}

/** As a name of a test. */
function word(like: Like): string {
  const words = title(like).normalize('NFKD').toLowerCase().match(/[a-z]+/g) ?? []
  return [...words.slice(0, 6), 'arrives'].join('_').replace(/^arrives$/, 'the_mail_arrives')
}

const title = (like: Like): string => likenessOf(like.subject) || 'the mail'
/** Also what encodeURIComponent leaves, so that no shell or string has an opinion. */
const escaped = (text: string): string => encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

const sh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const js = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
const py = (text: string): string => JSON.stringify(text)
const rs = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/\p{C}/gu, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`)}"`
