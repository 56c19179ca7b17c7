import { getHealth } from '../../contract/health.ts'
import type { Api } from './context.ts'
import { mountEndpoint } from './mount.ts'

export function mountHealth(app: Api): void {
  mountEndpoint(app, getHealth, async () => ({ status: 'ok' as const }))
}
