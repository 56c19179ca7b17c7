import { useMemo } from 'react'
import type { Group } from '../../contract/groups.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { groupList, groupSortKeys } from '../../stores/admin/group-list.ts'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { ExportButton } from '../lists/ExportButton.tsx'
import { ListScreen } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { UsageBar } from '../lists/UsageBar.tsx'
import { useListScreen } from '../lists/use-list-screen.ts'
import { useListView, ViewMenu } from '../lists/ViewMenu.tsx'

const addresses = createListAddressCodec({ sorts: groupSortKeys })

export const GroupList = withTranslation(function GroupList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(groupList, addresses, 'name')
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const view = useListView('groups', columns)
  const { company, address } = screen
  const save = async () => {
    const { downloadGroups } = await import('./download-groups.ts')
    await downloadGroups(address ?? {}, t('groups.fileName'))
  }
  return (
    <ListScreen
      screen={screen}
      label={t('admin.groups.list')}
      search={t('admin.groups.search')}
      create={{ href: pageHref(locale, 'createGroup', { company }), text: t('groups.new') }}
      loading={t('admin.groups.loading')}
      empty={{ title: t('admin.groups.empty.title'), text: t('admin.groups.empty.text') }}
      tools={
        <>
          <ExportButton save={save} className="btn-sm" />
          <ViewMenu columns={columns} view={view} />
        </>
      }
      columns={view.shown}
      density={view.density}
      hrefOf={({ id }) => pageHref(locale, 'group', { company, group: id })}
    />
  )
})

function columnsOf(locale: Locale, t: Translate): TableColumn<Group>[] {
  const numbers = new Intl.NumberFormat(languageTag(locale))
  return [
    {
      id: 'name',
      label: t('admin.groups.name'),
      isSortable: true,
      width: 1.8,
      cell: group => (
        <>
          <span className="me-2">{group.name}</span>
          {group.is_default && (
            <span className="badge badge-outline">{t('admin.groups.default')}</span>
          )}
        </>
      )
    },
    {
      id: 'members',
      label: t('admin.groups.members'),
      cell: group => numbers.format(group.user_count)
    },
    {
      id: 'requests',
      width: 1.4,
      label: t('admin.groups.requests'),
      cell: ({ usage, max_requests }) => (
        <UsageBar usageKind="requests" used={usage.requests_used} limit={max_requests} />
      )
    },
    {
      id: 'storage',
      width: 1.4,
      label: t('admin.groups.storage'),
      cell: ({ usage, max_storage }) => (
        <UsageBar usageKind="storage" used={usage.storage_used} limit={max_storage} />
      )
    },
    createdColumn(t('admin.groups.created'), locale)
  ]
}
