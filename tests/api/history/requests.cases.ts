import type { RefusalContext, Refusals, RouteCases } from '../../helpers/cases.ts'

const historyFilter = {
  kind: 'deposit',
  state: 'done',
  q: 'own',
  from: '2020-01-01T00:00:00Z',
  to: '2100-01-01T00:00:00+01:00'
}

export const rows: RouteCases = {
  listRequests: {
    input: () => ({ scope: 'own', limit: 10, ...historyFilter }),
    ids: { cursor: 'request', category: 'category' }
  },
  exportRequests: {
    input: () => ({
      locale: 'fr',
      format: 'spreadsheet',
      time_zone: 'Europe/Paris',
      ...historyFilter
    }),
    ids: { category: 'category' },
    shared: true
  },
  getRequest: { ids: { id: 'request' } },
  streamRequests: {}
}

/** Returns a function that provokes the error `stream_limit_reached` of `streamRequests`. */
export function refusals({ app, ada, ask }: RefusalContext): Refusals {
  return {
    'streamRequests stream_limit_reached': async () => {
      const open = new AbortController()
      const headers = { authorization: `Bearer ${ada.token}` }
      for (let seat = 0; seat < 5; seat++) {
        const init = { headers, signal: open.signal }
        await app.fetch(new Request('http://api.acme.localhost/process/sse', init))
      }
      const refused = await ask('streamRequests', {})
      open.abort()
      return refused
    }
  }
}
