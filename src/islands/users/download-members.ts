import { exportUsers } from '../../contract/members.ts'
import { byteOrderMark, csvRecord } from '../../core/csv/cells.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { type MemberFilter, memberList } from '../../stores/admin/member-list.ts'
import { fetchFile } from '../../stores/download.ts'
import type { RefusedItem } from '../../stores/lists/bulk-run.ts'
import { downloadFile } from '../files/download-file.ts'

export async function downloadMembers(filter: MemberFilter, name: string): Promise<void> {
  const path = exportUsers.path.replace('{id}', encodeURIComponent(companyIdOfPage()))
  downloadFile(await fetchFile(path, { ...filter }), name, 'csv')
}

export function downloadRefusedMembers(
  refused: readonly RefusedItem[],
  reasonOf: (code: string) => string,
  name: string
): void {
  const known = new Map(memberList.$rows.get().map(member => [member.id, member]))
  const lines = refused.map(({ id, code }) => {
    const member = known.get(id)
    return csvRecord([id, member?.username, member?.email, code, reasonOf(code)])
  })
  const head = csvRecord(['id', 'username', 'email', 'code', 'reason'])
  downloadFile(
    new Blob([byteOrderMark, head, ...lines], { type: 'text/csv;charset=utf-8' }),
    name,
    'csv'
  )
}
