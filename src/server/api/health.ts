import { getHealth } from '../../contract/health.ts'
import type { Api } from './kit/context.ts'
import { mountEndpoint } from './kit/mount.ts'

export function mountHealth(app: Api): void {
  mountEndpoint(app, getHealth, async () => ({ status: 'ok' as const }))
}
