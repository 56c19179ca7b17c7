import type { Group } from '../../contract/groups.ts'
import { byteOrderMark, csvRecord } from '../../core/csv/cells.ts'
import { fetchAllGroups, type GroupQuery } from '../../stores/admin/group-list.ts'
import { downloadFile } from '../files/download-file.ts'

const columns: Record<string, (group: Group) => string | number | undefined> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  is_default: ({ is_default }) => String(is_default),
  features: ({ features }) => features.join(' '),
  user_count: ({ user_count }) => user_count,
  requests_used: ({ usage }) => usage.requests_used,
  max_requests: ({ max_requests }) => max_requests ?? undefined,
  max_requests_interval: ({ max_requests_interval }) => max_requests_interval ?? undefined,
  storage_used: ({ usage }) => usage.storage_used,
  max_storage: ({ max_storage }) => max_storage ?? undefined,
  created: ({ created }) => created
}

export async function downloadGroups(query: GroupQuery, name: string): Promise<void> {
  const groups = await fetchAllGroups(query)
  const lines = groups.map(group => csvRecord(Object.values(columns).map(cell => cell(group))))
  const content = [byteOrderMark, csvRecord(Object.keys(columns)), ...lines]
  downloadFile(new Blob(content, { type: 'text/csv;charset=utf-8' }), name, 'csv')
}
