import {
  type BulkMemberChange,
  fetchMemberNames,
  inverseChange,
  memberBulkRun
} from '../../stores/admin/member-list.ts'
import type { BulkRunState } from '../../stores/lists/bulk-run.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { BulkRunPanel } from '../lists/BulkRunPanel.tsx'
import { downloadRefusedMembers } from './download-members.ts'

export function BulkChangePanel({ run }: { run: BulkRunState<BulkMemberChange> }) {
  const { t } = useTranslation()
  const { change, done, refused } = run
  const { action } = change
  const group = change.group?.name ?? ''
  const undo = inverseChange(change)
  return (
    <BulkRunPanel
      run={run}
      title={t(`users.bulk.titles.${action}`, { group })}
      done={count => t(`users.bulk.done.${action}`, { count, group })}
      unchanged={count => t(`users.bulk.unchanged.${action}`, { count, group })}
      namesOf={fetchMemberNames}
      onStop={memberBulkRun.stop}
      onResume={() => void memberBulkRun.resume()}
      onRetry={() => void memberBulkRun.retryRefused()}
      onUndo={undo && (() => void memberBulkRun.start(undo, { ids: done }))}
      onSave={() =>
        downloadRefusedMembers(refused, code => t(`errors.${code}`), t('users.bulk.refusedFile'))
      }
      onDismiss={memberBulkRun.dismiss}
    />
  )
}
