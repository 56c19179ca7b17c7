import { useStore } from '@nanostores/react'
import { useCallback } from 'react'
import { $attention, loadAttention } from '../../stores/admin/overview.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { AttentionCard, AttentionItems } from './AttentionCard.tsx'
import { useRegularCheck } from './use-regular-check.ts'

export function CompanyAttention({ company }: { company: string }) {
  const { t } = useTranslation()
  const state = useStore($attention, { ssr: 'initial' })
  const check = useCallback(() => void loadAttention(company), [company])
  useRegularCheck(check)
  const found = state.status === 'ready' ? state.attention : undefined
  return (
    <AttentionCard
      state={state}
      loading={t('overview.attention.loading')}
      check={check}
      isInOrder={found?.items.length === 0 && found.unchecked.length === 0}
    >
      {found && (
        <AttentionItems found={found} company={company} hasMailServer={found.has_mail_server} />
      )}
    </AttentionCard>
  )
}
