import { useEffect } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function AlreadySetUp() {
  const { locale, t } = useTranslation()
  return (
    <section className="sheet flex flex-col gap-4" data-state="over">
      <p className="verdict">{t('setup.over')}</p>
      <p className="text-ink-soft">{t('setup.overText')}</p>
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/sign-in')}>
          {t('setup.signIn')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/verify')}>
          {t('setup.verify')}
        </a>
      </div>
    </section>
  )
}

interface SetupDoneProps {
  stays: boolean
  demo: string | undefined
}

export function SetupDone({ stays, demo }: SetupDoneProps) {
  const { locale, t } = useTranslation()
  // updates the bar, which shows who is signed in
  useEffect(() => void document.dispatchEvent(new Event('vidimus:changed')), [])
  return (
    <section className="sheet flex flex-col gap-4" data-state="done">
      <p className="verdict" role="status">
        {t('setup.done')}
      </p>
      {stays && (
        <p role="alert" className="alert alert-warning alert-outline">
          {t('setup.demoStays')}
        </p>
      )}
      <p>{t('setup.next')}</p>
      {/* whole loads: the company's new name stands in the page's frame */}
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/deposit')} data-astro-reload>
          {t('setup.deposit')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/')} data-astro-reload>
          {t('setup.go')}
        </a>
      </div>
      <p>
        {t('setup.nextAdmin')}{' '}
        <a className="link" href={localizedPath(locale, '/admin')} data-astro-reload>
          {t('setup.admin')}
        </a>
      </p>
      {demo && !stays && (
        <p className="wrap-anywhere text-ink-soft text-sm">
          {t('setup.nextDemo')}{' '}
          <a className="link link-secondary" href={demo} target="_blank" rel="noreferrer">
            {demo}
          </a>
        </p>
      )}
      <p className="text-ink-soft text-sm">
        {t(isLocalHost() ? 'setup.nextLocal' : 'setup.nextPublic')}
      </p>
    </section>
  )
}

export function isLocalHost(): boolean {
  const { hostname } = location
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}
