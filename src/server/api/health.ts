import { getHealth } from '../../contract/health.ts'
import type { Api } from './context.ts'
import { on } from './on.ts'

export function mountService(app: Api): void {
  on(app, getHealth, async () => ({ status: 'ok' as const }))
}
