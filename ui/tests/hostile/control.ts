// The page with its guards taken away: no policy, no sandbox, the body as it was sent. Shows that a hostile run can see.
import { Proxy, type Server } from '../harness'

const GUARDS = ['content-security-policy', 'x-frame-options', 'x-content-type-options', 'cross-origin-opener-policy', 'cross-origin-resource-policy']

export function unguarded(server: Server): Promise<Proxy> {
  return Proxy.start(() => server.url, {
    concerns: (path) => !path.includes('/api/v2/events'),
    change: async (answer) => {
      for (const guard of GUARDS) delete answer.headers[guard]
      if (answer.path.endsWith('.js')) answer.body = Buffer.from(answer.body.toString().replaceAll('sandbox', 'unguarded'))
      const body = /^(.*\/messages\/[^/?]+)\/html(\?|$)/.exec(answer.path)
      if (body) {
        const { html } = await server.ask<{ html: string | null }>(body[1] ?? '')
        answer.body = Buffer.from(`<!doctype html>${html ?? ''}`)
        answer.headers['content-type'] = 'text/html; charset=utf-8'
      }
      return answer
    },
  })
}
