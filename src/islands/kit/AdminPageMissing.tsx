import { pageHref } from './page-href.ts'
import { useTranslation } from './use-translation.ts'

export function AdminPageMissing() {
  const { locale, t } = useTranslation()
  return (
    <section className="sheet flex flex-col items-start gap-4" data-state="missing">
      <p className="verdict" role="status">
        {t('admin.missing.title')}
      </p>
      <p className="text-ink-soft">{t('admin.missing.text')}</p>
      <a className="btn btn-primary" href={pageHref(locale, 'admin', {})}>
        {t('admin.missing.go')}
      </a>
    </section>
  )
}
