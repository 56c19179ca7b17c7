import { dateTag } from '../../core/text/date-tag.ts'
import { languageTag } from '../../i18n/index.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { $dataSource, openDataSource } from '../../stores/admin/data-sources.ts'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { pageHref } from '../kit/page-href.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

export const DataSourceDetail = withTranslation(function DataSourceDetail() {
  const { locale, t } = useTranslation()
  const dates = new Intl.DateTimeFormat(dateTag(languageTag(locale)), { dateStyle: 'medium' })
  return (
    <DetailFrame
      store={$dataSource}
      open={openDataSource}
      param="data_source"
      list="dataSources"
      missing={key => t(`dataSources.missing.${key}`)}
      nameOf={({ name }) => name}
    >
      {({ created }) => (
        <section className="sheet flex flex-col gap-4">
          <dl>
            <dt className="label-text">{t('dataSources.detail.created')}</dt>
            <dd>{dates.format(new Date(created))}</dd>
          </dl>
          <p className="text-ink-soft">{t('dataSources.detail.text')}</p>
          <a
            className="btn btn-outline self-start"
            href={pageHref(locale, 'dataSources', { company: companyIdOfPage() })}
          >
            {t('dataSources.missing.go')}
          </a>
        </section>
      )}
    </DetailFrame>
  )
})
