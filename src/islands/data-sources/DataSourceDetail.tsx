import { useStore } from '@nanostores/react'
import type { DataSource } from '../../contract/data-sources.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { languageTag } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import {
  $dataSource,
  dataSourceCategories,
  deleteDataSource,
  openDataSource,
  reloadDataSource
} from '../../stores/admin/data-sources.ts'
import { wholeListState } from '../../stores/load-state.ts'
import { RecentChanges } from '../audit/RecentChanges.tsx'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { PasswordPrompt } from '../forms/PasswordPrompt.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { pageHref } from '../kit/page-href.ts'
import { Section } from '../kit/Section.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { DataSourceSettings } from './DataSourceSettings.tsx'
import { RegisterImportList } from './RegisterImportList.tsx'
import { RegisterVersionList } from './RegisterVersionList.tsx'
import { StrangerView } from './StrangerView.tsx'

export const DataSourceDetail = withTranslation(function DataSourceDetail() {
  const { t } = useTranslation()
  return (
    <DetailFrame
      store={$dataSource}
      open={openDataSource}
      param="data_source"
      list="dataSources"
      missing={key => t(`dataSources.missing.${key}`)}
      nameOf={({ name }) => name}
    >
      {source => (
        <>
          <Figures source={source} />
          <RegisterImportList source={source} />
          <DataSourceSettings source={source} />
          <Categories />
          <StrangerView source={source} />
          <RegisterVersionList />
          <RecentChanges target={source.id} shown={[source]} />
          <DeleteItem
            list="dataSources"
            name={source.name}
            words={(key, values) => t(`dataSources.delete.${key}`, values)}
            uses={['categories']}
            usesWords={(use, count) => t(`dataSources.delete.uses.${use}`, { count })}
            remove={() => deleteDataSource(source)}
            reload={() => reloadDataSource(source.id)}
            done={t('dataSources.delete.done', { name: source.name })}
          />
          <PasswordPrompt />
        </>
      )}
    </DetailFrame>
  )
})

function Figures({ source: { id, current, checked } }: { source: DataSource }) {
  const { locale, t } = useTranslation()
  const time = (value: string) => formatDateTime(new Date(value), locale)
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const figures = [
    {
      name: 'rows',
      label: t('dataSources.figures.rows'),
      value: current ? numbers.format(current.rows) : '0'
    },
    {
      name: 'version',
      label: t('dataSources.figures.version'),
      value: current ? numbers.format(current.number) : t('dataSources.list.none'),
      note: current ? time(current.created) : t('dataSources.figures.noVersion')
    },
    {
      name: 'checked',
      label: t('dataSources.figures.checked'),
      value: checked ? time(checked) : t('dataSources.list.never'),
      note: checked ? undefined : t('dataSources.figures.checkedNote')
    }
  ]
  return (
    <section className="sheet flex flex-col gap-6" aria-labelledby="register-figures">
      <h2 id="register-figures" className="sr-only">
        {t('dataSources.figures.title')}
      </h2>
      <dl className="grid gap-x-8 gap-y-4 sm:grid-cols-[auto_auto_1fr]">
        {figures.map(({ name, label, value, note }) => (
          <div key={name} data-figure={name}>
            <dt className="label-text">{label}</dt>
            <dd className="tabular font-semibold text-lg">{value}</dd>
            {note && <dd className="meta">{note}</dd>}
          </div>
        ))}
      </dl>
      <a
        className="btn btn-primary self-start"
        href={pageHref(locale, 'importRegister', { company: companyIdOfPage(), data_source: id })}
      >
        {t('dataSources.import')}
      </a>
    </section>
  )
}

function Categories() {
  const { locale, t } = useTranslation()
  const list = wholeListState(
    useStore(dataSourceCategories.$rows, { ssr: 'initial' }),
    useStore(dataSourceCategories.$status, { ssr: 'initial' })
  )
  const company = companyIdOfPage()
  return (
    <Section
      id="register-categories"
      title={t('dataSources.categories.title')}
      note={t('dataSources.categories.note')}
      state={list.status}
    >
      {list.status === 'loading' && <p role="status">{t('common.loading')}</p>}
      {list.status === 'failed' && (
        <ErrorNote error={list.error} retry={() => dataSourceCategories.load()} />
      )}
      {list.status === 'ready' && list.rows.length === 0 && (
        <>
          <p className="text-ink-soft">{t('dataSources.categories.none')}</p>
          <a
            className="btn btn-outline btn-sm self-start"
            href={pageHref(locale, 'categories', { company })}
          >
            {t('dataSources.categories.go')}
          </a>
        </>
      )}
      {list.status === 'ready' && list.rows.length > 0 && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.rows.map(({ id, names, visibility }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
              <a
                className="link wrap-anywhere min-w-0 flex-1"
                href={pageHref(locale, 'category', { company, category: id })}
              >
                {names[locale]}
              </a>
              <span className="meta">{t(`dataSources.categories.visibilities.${visibility}`)}</span>
            </li>
          ))}
        </ul>
      )}
      {list.status === 'ready' && list.hasMore && (
        <button
          type="button"
          className="btn btn-outline self-start"
          aria-disabled={list.more === 'loading'}
          onClick={() => void dataSourceCategories.loadMore()}
        >
          {t('common.more')}
        </button>
      )}
    </Section>
  )
}
