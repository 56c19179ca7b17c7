import { useStore } from '@nanostores/react'
import { useEffect } from 'react'
import { $attention, loadAttention } from '../../stores/admin/overview.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'

/** Returns true until the API has answered, so that no page says too early that there is none. */
export function useHasMailServer(isAnswerNeeded = true): boolean {
  const params: Record<string, string> = useStore($route, { ssr: 'initial' })?.params ?? {}
  const company = params['company']
  const isIn = useStore($session, { ssr: 'initial' }).status === 'in'
  const state = useStore($attention, { ssr: 'initial' })
  const isKnown = state.status === 'ready' && state.company === company
  useEffect(() => {
    if (isAnswerNeeded && isIn && company !== undefined && !isKnown) void loadAttention(company)
  }, [isAnswerNeeded, isIn, company, isKnown])
  return !isAnswerNeeded || !isKnown || state.attention.has_mail_server
}
