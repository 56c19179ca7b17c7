import { useStore } from '@nanostores/react'
import { useEffect, useMemo, useState } from 'react'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import type { BulkAction, Member, MemberState, Permission } from '../../contract/members.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { personName } from '../../core/text/person-name.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import {
  countMembers,
  type MemberFilter,
  type MemberQuery,
  memberBulkRun,
  memberFilterOf,
  memberList,
  memberSortKeys
} from '../../stores/admin/member-list.ts'
import type { BulkTarget } from '../../stores/lists/bulk-run.ts'
import {
  countSelectedRows,
  emptySelection,
  type RowSelection
} from '../../stores/lists/selection.ts'
import type { InvitationLinksProps } from '../details/InvitationLinksDownload.tsx'
import { useHasMailServer } from '../details/use-has-mail-server.ts'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { pageHref } from '../kit/page-href.ts'
import { relativeTime } from '../kit/time.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { BulkBar } from '../lists/BulkBar.tsx'
import { createdColumn } from '../lists/created-column.ts'
import type { TableColumn } from '../lists/DataTable.tsx'
import { EmptyState } from '../lists/EmptyState.tsx'
import { ExportButton } from '../lists/ExportButton.tsx'
import { SearchBox } from '../lists/FilterFields.tsx'
import { FilterBar, FilterSelect } from '../lists/FilterSelect.tsx'
import { ListTable } from '../lists/ListScreen.tsx'
import { createListAddressCodec } from '../lists/list-address.ts'
import { useListScreen } from '../lists/use-list-screen.ts'
import { useListView, ViewMenu } from '../lists/ViewMenu.tsx'
import { GroupFilterSelect } from './GroupFilterSelect.tsx'

const BulkChangeDialog = lazyComponent(
  async () => (await import('./BulkChangeDialog.tsx')).BulkChangeDialog
)
const InvitationLinksDownload = lazyComponent<InvitationLinksProps>(
  async () => (await import('../details/InvitationLinksDownload.tsx')).InvitationLinksDownload
)
const BulkChangePanel = lazyComponent(
  async () => (await import('./BulkChangePanel.tsx')).BulkChangePanel
)

const states: readonly MemberState[] = ['active', 'invited', 'waiting', 'disabled']
const permissions: readonly Permission[] = ['admin', 'operator']
const actions: readonly BulkAction[] = [
  'add_to_group',
  'remove_from_group',
  'disable',
  'enable',
  'invite',
  'sign_out',
  'delete'
]

const addresses = createListAddressCodec({
  sorts: memberSortKeys,
  filters: {
    state: value => states.some(each => each === value),
    group: value => /^[0-9a-f-]{36}$/i.test(value),
    permission: value => permissions.some(each => each === value)
  }
})

export const UserList = withTranslation(function UserList() {
  const { locale, t } = useTranslation()
  const screen = useListScreen(memberList, addresses, 'name')
  const run = useStore(memberBulkRun.$run, { ssr: 'initial' })
  const selection = useStore(memberList.$selection, { ssr: 'initial' })
  const setSelection = (next: RowSelection) => memberList.$selection.set(next)
  const [action, setAction] = useState<BulkAction>()
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const view = useListView('users', columns)
  const { company, rows, status, filterCount, set } = screen
  // as: the rules of the address have checked the values
  const address = (screen.address ?? {}) as MemberQuery
  const isRunning = run?.status === 'running' || run?.status === 'stopping'
  const [counting, setCounting] = useState<'idle' | 'busy' | AppError>('idle')
  const selectAll = async () => {
    if (counting === 'busy') return
    setCounting('busy')
    try {
      const all = await countMembers(memberFilterOf(address))
      setSelection({ ids: new Set(), all })
      setCounting('idle')
    } catch (cause) {
      setCounting(asAppError(cause, 'Counting the people failed'))
    }
  }

  const hasEnded = run !== undefined && !isRunning
  useEffect(() => {
    if (hasEnded) void memberList.load()
  }, [hasEnded])

  const count = countSelectedRows(selection)
  const asksInvited = address.state === 'invited'
  const hasMailServer = useHasMailServer(asksInvited || count > 0)
  // nothing is mailed, so the administrator gets the links instead
  const asksLinks = action === 'invite' && !hasMailServer
  const target = (): BulkTarget<MemberFilter> => {
    const { all, ids } = selection
    return all === undefined ? { ids: [...ids] } : { filter: memberFilterOf(address), count: all }
  }
  const save = async () => {
    const { downloadMembers } = await import('./download-members.ts')
    await downloadMembers(memberFilterOf(address), t('users.list.fileName'))
  }

  if (screen.isMissing && !address.group) return <AdminPageMissing />
  const hasMore = status.status === 'ready' && status.hasMore
  const invite = (
    <a className="btn btn-primary" href={pageHref(locale, 'createUser', { company })}>
      {t('users.list.invite')}
    </a>
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <search className="min-w-0 max-w-md grow" aria-label={t('users.list.title')}>
          <SearchBox
            label={t('users.list.search')}
            value={screen.q}
            onSearch={next => set({ q: next })}
          />
        </search>
        <div className="flex flex-wrap gap-2">
          <a className="btn btn-outline" href={pageHref(locale, 'importUsers', { company })}>
            {t('users.list.import')}
          </a>
          {invite}
        </div>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <FilterBar
          activeFilterCount={filterCount}
          onClear={() => set({ state: '', group: '', permission: '' })}
        >
          <FilterSelect
            label={t('users.list.state')}
            value={address.state}
            options={states.map(state => [state, t(`users.list.states.${state}`)])}
            onChoose={state => set({ state })}
          />
          <GroupFilterSelect value={address.group} onChoose={group => set({ group })} />
          <FilterSelect
            label={t('users.list.permission')}
            value={address.permission}
            options={permissions.map(each => [each, t(`users.list.permissions.${each}`)])}
            onChoose={permission => set({ permission })}
          />
        </FilterBar>
        <div className="flex flex-wrap items-center gap-2">
          <ExportButton save={save} className="btn-sm" />
          <ViewMenu columns={columns} view={view} />
        </div>
      </div>
      {run && <BulkChangePanel run={run} />}
      {asksLinks ? (
        <InvitationLinksDownload
          people={target()}
          selected={count}
          onClose={() => setAction(undefined)}
        />
      ) : (
        asksInvited &&
        !hasMailServer &&
        rows.length > 0 && <InvitationLinksDownload people={{ filter: memberFilterOf(address) }} />
      )}
      <ListTable
        screen={screen}
        label={t('users.list.title')}
        loading={t('users.list.loading')}
        noneFiltered={t('users.list.noneFiltered')}
        empty={
          <EmptyState title={t('users.list.empty.title')} text={t('users.list.empty.text')}>
            {invite}
          </EmptyState>
        }
        foundText={(count, isPart) =>
          t(isPart ? 'users.list.foundMore' : 'users.list.found', { count })
        }
        columns={view.shown}
        density={view.density}
        hrefOf={({ id }) => pageHref(locale, 'user', { company, user: id })}
        selecting={{ selection, onSelect: setSelection, nameOf: personName }}
      />
      <BulkBar
        selection={selection}
        onSelect={setSelection}
        shown={rows.map(({ id }) => id)}
        hasMore={hasMore}
        actions={actions.map(id => ({
          id,
          label:
            id === 'invite' && !hasMailServer
              ? t('users.bulk.actions.links')
              : t(`users.bulk.actions.${id}`)
        }))}
        onAct={setAction}
        isBusy={isRunning}
        onSelectAll={() => void selectAll()}
        isCounting={counting === 'busy'}
        failure={counting instanceof AppError ? counting : undefined}
        words={count => t('users.bulk.selected', { count })}
      />
      {action && !asksLinks && (
        <BulkChangeDialog
          action={action}
          count={count}
          start={details => {
            setSelection(emptySelection)
            void memberBulkRun.start({ action, company, reasons: new Map(), ...details }, target())
          }}
          onClose={() => setAction(undefined)}
        />
      )}
      <PasswordPrompt />
    </div>
  )
})

const mostGroups = 3

function columnsOf(locale: Locale, t: Translate): TableColumn<Member>[] {
  const moments = new Intl.DateTimeFormat(dateTag(languageTag(locale)), {
    dateStyle: 'medium',
    timeStyle: 'short'
  })
  const list = new Intl.ListFormat(languageTag(locale), { style: 'narrow', type: 'unit' })
  return [
    {
      id: 'name',
      label: t('users.list.name'),
      isSortable: true,
      width: 1.4,
      cell: member => (
        <>
          {personName(member)}{' '}
          {member.permissions.map(permission => (
            <span key={permission} className="badge badge-outline badge-sm me-2">
              {t(`users.list.permissions.${permission}`)}
            </span>
          ))}
        </>
      )
    },
    {
      id: 'email',
      label: t('users.list.email'),
      isSortable: true,
      width: 1.7,
      cell: ({ email }) => <Email email={email} />
    },
    {
      id: 'groups',
      label: t('users.list.groups'),
      width: 1.4,
      cell: ({ groups }) => {
        const more = groups.length - mostGroups
        const names = groups.slice(0, mostGroups).map(({ name }) => name)
        if (more > 0) names.push(t('users.list.moreGroups', { count: more }))
        return names.length > 0 ? list.format(names) : <None />
      }
    },
    {
      id: 'state',
      label: t('users.list.state'),
      cell: ({ state }) => (
        <span className={stateLooks[state]}>{t(`users.list.states.${state}`)}</span>
      )
    },
    {
      id: 'last_seen',
      label: t('users.list.lastSeen'),
      isSortable: true,
      isSecondary: true,
      cell: ({ last_seen }) =>
        last_seen === null ? (
          t('users.list.never')
        ) : (
          <time dateTime={last_seen} title={moments.format(new Date(last_seen))}>
            {relativeTime(new Date(last_seen), Date.now(), locale)}
          </time>
        )
    },
    createdColumn(t('users.list.created'), locale)
  ]
}

const stateLooks: Record<MemberState, string> = {
  active: 'text-ink-soft',
  invited: 'badge badge-outline badge-sm badge-info',
  waiting: 'badge badge-outline badge-sm badge-warning',
  disabled: 'badge badge-outline badge-sm badge-error'
}

// a long one breaks before the `@`
function Email({ email }: Pick<Member, 'email'>) {
  const at = email.lastIndexOf('@')
  return (
    <>
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </>
  )
}

function None() {
  return <span aria-hidden="true">–</span>
}
