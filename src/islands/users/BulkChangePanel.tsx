import {
  type BulkMemberChange,
  fetchMemberNames,
  inverseChange,
  memberBulkRun
} from '../../stores/admin/member-list.ts'
import type { BulkRun } from '../../stores/lists/bulk-run.ts'
import { useWords } from '../kit/use-words.ts'
import { BulkPanel } from '../lists/BulkPanel.tsx'
import { downloadRefusedMembers } from './download-members.ts'

/** Shows the progress of a bulk change of people and then its result. */
export function BulkChangePanel({ run }: { run: BulkRun<BulkMemberChange> }) {
  const { t } = useWords()
  const { change, done, refused } = run
  const { action } = change
  const group = change.group?.name ?? ''
  const undo = inverseChange(change)
  return (
    <BulkPanel
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
