// A mail whose HTML is larger than the page shows unasked: 1.9 MB, made here rather than kept.

/** The source, with LF; `rows` of about 95 bytes each. */
export function hugeHtml(rows = 20_000): string {
  const lines = Array.from({ length: rows }, (_, at) => `<tr><td>${at}</td><td>row ${at} of the huge report</td><td style="color: #46524e">${(at * 7919) % 1000}</td></tr>`)
  return `From: Big Report <report@shop.example>
To: ben@customers.example
Subject: Huge HTML report
Message-ID: <huge@shop.example>
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<table>
${lines.join('\n')}
</table>
`
}
